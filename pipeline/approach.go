package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"cordelia/schemas"
)

// maxApproach bounds the text of an approach, in bytes: memory keeps it as a tag. A
// longer one ends in a part of its hash.
const maxApproach = 64

// ToolName is the name under which a tool is compared: the base name, in lower case,
// and one name for what clients call differently. `/bin/bash` and `Bash` are bash.
func ToolName(name string) string {
	s := strings.Map(fold, strings.TrimSpace(name))
	s = strings.TrimSuffix(s[strings.LastIndexAny(s, `/\`)+1:], ".exe")
	switch s {
	case "sh", "zsh", "dash", "shell", "terminal", "local_shell", "exec_command", "run_command", "run_shell_command":
		return "bash"
	case "multiedit", "apply_patch", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "edit_file":
		return "edit"
	case "write_file", "create_file":
		return "write"
	case "read_file", "open_file":
		return "read"
	case "rg", "ripgrep", "grep_search":
		return "grep"
	case "webfetch", "web_fetch", "fetch_url":
		return "fetch"
	case "websearch", "web_search", "google_web_search":
		return "search"
	case "list", "list_dir", "list_directory":
		return "ls"
	}
	return s
}

// GeneralTools are the tools that are never blocked as such, where the operator names
// no others: a shell, an editor or a reader does too many different things.
func GeneralTools() []string {
	return []string{"bash", "edit", "fetch", "glob", "grep", "ls", "read", "search", "write"}
}

// hasTool reports whether a list names a tool, however either is spelled.
func hasTool(list []string, tool string) bool {
	name := ToolName(tool)
	return slices.ContainsFunc(list, func(s string) bool { return ToolName(s) == name })
}

// Approach names how something was tried: the tool, and the normalised command or
// target it was used on, as tool:input in at most 64 bytes.
func Approach(call schemas.Evidence) string {
	tool := ToolName(call.Tool)
	key := tool + ":" + commandOf(tool, call.Input)
	if len(key) <= maxApproach {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	const cut = maxApproach - len("…") - 8
	return key[:schemas.Boundary(key, cut)] + "…" + hex.EncodeToString(sum[:4])
}

// approachOf is the approach of a target that is written as tool:input.
func approachOf(target string) string {
	tool, input, _ := strings.Cut(target, ":")
	return Approach(schemas.Evidence{Tool: tool, Input: input})
}

// isApproach reports whether a name is tool:input, and no bare tool.
func isApproach(name string) bool {
	tool, input, ok := strings.Cut(name, ":")
	return ok && tool != "" && strings.TrimSpace(input) != ""
}

// commandOf is an input without what makes no difference to it: spacing, and a shell
// around a command.
func commandOf(tool, input string) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(input, "�")), " ")
	if tool != "bash" {
		return strings.TrimPrefix(s, "./")
	}
	shell, rest, _ := strings.Cut(s, " ")
	if option, command, ok := strings.Cut(rest, " "); ok && ToolName(shell) == "bash" &&
		(option == "-c" || option == "-lc") {
		s = command
		if n := len(s); n > 1 && (s[0] == '\'' || s[0] == '"') && s[n-1] == s[0] {
			s = s[1 : n-1]
		}
	}
	return strings.TrimPrefix(s, "./")
}

// names reports whether a criterion says that a command shows it: then the command is how
// the result is looked at, and no approach to it.
func names(c schemas.CriterionVerdict, call schemas.Evidence) bool {
	return ToolName(call.Tool) == "bash" && mentions(c.Criterion, commandOf("bash", call.Input))
}

// tried lists the calls of an outcome that were approaches: they changed something, and
// no criterion names them as what shows it.
func tried(o schemas.SubTaskOutcome) (calls []schemas.Evidence) {
	for _, call := range o.ToolCalls {
		named := slices.ContainsFunc(o.CriteriaVerdicts,
			func(v schemas.CriterionVerdict) bool { return names(v, call) })
		if !named && !onlyReads(call) && isApproach(Approach(call)) {
			calls = append(calls, call)
		}
	}
	return calls
}

// FailedApproaches lists the approaches of the subtasks that failed logically, of tools
// of the task, each once in the order they were tried. Where the whole was rejected
// logically though each subtask had matched, those of all subtasks failed.
func FailedApproaches(outcomes []schemas.SubTaskOutcome, whole []schemas.CriterionVerdict,
	tools []string) (list []string) {
	all := logical(whole) && !slices.ContainsFunc(outcomes, schemas.SubTaskOutcome.Failed)
	for _, o := range outcomes {
		if all || o.Failed() && logical(o.CriteriaVerdicts) {
			list = addApproaches(list, tried(o), tools)
		}
	}
	return list
}

// WorkedApproaches lists the approaches of matched subtasks whose calls worked.
func WorkedApproaches(outcomes []schemas.SubTaskOutcome, tools []string) (list []string) {
	for _, o := range outcomes {
		if o.Status == schemas.Matched {
			worked := slices.DeleteFunc(tried(o), func(e schemas.Evidence) bool { return e.Exit != 0 })
			list = addApproaches(list, worked, tools)
		}
	}
	return list
}

// maxApproaches is how many approaches one lesson names.
const maxApproaches = 20

func addApproaches(list []string, calls []schemas.Evidence, tools []string) []string {
	for _, call := range calls {
		key := Approach(call)
		if len(list) < maxApproaches && hasTool(tools, call.Tool) && !slices.Contains(list, key) {
			list = append(list, key)
		}
	}
	return list
}

// logical reports whether a criterion failed because of the approach.
func logical(verdicts []schemas.CriterionVerdict) bool {
	return slices.ContainsFunc(verdicts, func(v schemas.CriterionVerdict) bool {
		return v.Failed() && v.FailureClass == schemas.Logical
	})
}

// asked are words of requests that say nothing of what a request is about.
const asked = " can could do get i just let make me my need our please should some someone want we will would you your "

// informative are the words of an intent that say what it is about.
func informative(intent string) map[string]bool {
	words := terms(intent)
	for w := range words {
		if strings.Contains(asked, " "+w+" ") {
			delete(words, w)
		}
	}
	return words
}

// alike reports whether two intents match closely: they share at least half of the
// informative words of the longer one, and more than one, or all there are.
func alike(a, b map[string]bool) bool {
	both, most := common(a, b), max(len(a), len(b))
	return both > 1 && 2*both >= most || both > 0 && both == most
}
