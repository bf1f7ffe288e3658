package pipeline

import (
	"path"
	"slices"
	"strings"

	"cordelia/schemas"
)

// Tools by what they do, under the names of [ToolName]. A tool in none of these lists
// counts as one that writes.
const (
	readingTools = " read grep glob search fetch ls find view cat head tail todowrite todoread think " +
		"memory_search memory_read_warm memory_read_hot task_status events_poll "
	writingTools = " write edit notebookedit patch create delete move rename "
	shellTools   = " bash fish powershell pwsh cmd exec run "
	// readingPrograms change nothing unless their output goes to a file.
	readingPrograms = " ls cat head tail grep rg wc pwd echo printf stat diff cmp which true false test cd du df " +
		"sort uniq cut file tree date id whoami basename dirname realpath "
	// readingGit are the subcommands of git that change nothing.
	readingGit = " status log diff show rev-parse ls-files blame describe "
)

func listed(names, name string) bool { return name != "" && strings.Contains(names, " "+name+" ") }

// changes reports whether a call may have changed what it works on. A shell, or a tool
// that is not known, changes nothing by a call that a criterion names as its check.
func (r EvidenceRules) changes(e schemas.Evidence, named bool) bool {
	name := ToolName(e.Tool)
	switch {
	case onlyReads(e), slices.ContainsFunc(r.Reading, func(t string) bool { return ToolName(t) == name }):
		return false
	case listed(writingTools, name):
		return true
	}
	return !named
}

// writesFile reports whether arguments make a program write that only reads without them.
func writesFile(program string, arguments []string) bool {
	given := func(prefixes ...string) bool {
		return slices.ContainsFunc(arguments, func(a string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(a, p) })
		})
	}
	switch program {
	case "find":
		return given("-delete", "-exec", "-ok", "-fprint", "-fls")
	case "sort", "tree":
		return given("-o", "--output")
	case "git":
		return given("--output")
	case "date":
		return given("-s", "--set")
	case "uniq": // its second operand is where the output goes
		operands := slices.DeleteFunc(slices.Clone(arguments), func(a string) bool { return strings.HasPrefix(a, "-") })
		return len(operands) > 1
	}
	return false
}

// onlyReads reports a call that changes nothing: of a tool that reads, or of a shell
// whose every step is a program that reads, with no output to a file.
func onlyReads(call schemas.Evidence) bool {
	name := ToolName(call.Tool)
	if !listed(shellTools, name) {
		return listed(readingTools, name)
	}
	command := commandOf("bash", strings.ReplaceAll(call.Input, "\n", ";"))
	for _, harmless := range []string{"2>&1", ">/dev/null", "> /dev/null"} {
		command = strings.ReplaceAll(command, harmless, "")
	}
	if strings.ContainsAny(command, ">`") || strings.Contains(command, "$(") {
		return false
	}
	for _, step := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("|&;", r) }) {
		words := strings.Fields(step)
		if len(words) == 0 {
			continue
		}
		switch program := path.Base(words[0]); {
		case writesFile(program, words[1:]):
			return false
		case listed(readingPrograms, program), program == "find":
		case program == "git" && len(words) > 1 && listed(readingGit, words[1]):
		default:
			return false
		}
	}
	return true
}
