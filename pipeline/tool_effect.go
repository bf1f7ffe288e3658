package pipeline

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"cordelia/schemas"
)

// Tools by what they do, under the names of [ToolName]. A tool in none of these lists
// counts as one that writes.
const (
	readingTools = " read grep glob search fetch ls find view cat head tail todowrite todoread think " +
		"memory_search memory_read_warm memory_read_hot task_status events_poll "
	writingTools = " write edit notebookedit patch create delete move rename "
	shellTools   = " bash fish powershell pwsh cmd exec run "
	// otherShells have another grammar than POSIX's.
	otherShells = " fish powershell pwsh cmd "
)

// readingPrograms change nothing, whatever their arguments are.
const readingPrograms = " ls cat head tail grep wc pwd echo stat diff cmp which true false cd du df cut id whoami " +
	"basename dirname realpath "

const anyLetter = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// options are those with which a program only reads: single letters, and whole words. With any
// other it counts as one that writes, for its manual may grow.
type options struct{ letters, words string }

// readingOptions are the programs that write files or run others with some options.
var readingOptions = map[string]options{
	"date": {"dIruR", " --date --iso-8601 --rfc-3339 --rfc-email --universal --utc "},
	"file": {"0bEhikLlNnrsv", " --brief --dereference --mime --mime-encoding --mime-type "},
	"find": {"bcGkMw", " -a -amin -and -anewer -atime -cmin -cnewer -ctime -daystart -depth -empty -executable " +
		"-false -follow -group -H -ilname -iname -inum -ipath -iregex -iwholename -L -links -lname -ls -maxdepth " +
		"-mindepth -mmin -mount -mtime -name -newer -newermt -not -o -or -P -path -perm -print -print0 -printf " +
		"-prune -quit -readable -regex -regextype -samefile -size -true -type -user -wholename -writable -xdev "},
	"git": {anyLetter, " --abbrev --abbrev-commit --abbrev-ref --after --all --always --author --before --binary " +
		"--branch --branches --cached --check --color --color-words --contains --date --decorate --deleted " +
		"--diff-filter --dirty --exact-match --exclude-standard --exit-code --find-copies --find-renames " +
		"--first-parent --follow --format --full-index --function-context --git-dir --graph --grep --histogram " +
		"--ignore-all-space --ignore-blank-lines --ignore-space-at-eol --ignore-space-change --ignored " +
		"--is-inside-work-tree --long --max-count --merge-base --merges --minimal --modified --name-only " +
		"--name-status --no-color --no-ext-diff --no-index --no-merges --no-patch --no-renames --no-textconv " +
		"--numstat --oneline --others --patch --patience --porcelain --pretty --quiet --raw --relative --reverse " +
		"--short --shortstat --show-current --show-toplevel --since --staged --stat --summary --tags --text " +
		"--unified --until --untracked-files --verify --word-diff "},
	"printf": {},
	"rg": {"aABCcdeEfFgHiIjLlmMnNopPqrsStTuUvwx", " --after-context --before-context --case-sensitive --color " +
		"--column --context --count --count-matches --files --files-with-matches --files-without-match " +
		"--fixed-strings --follow --glob --heading --hidden --iglob --ignore-case --invert-match --json " +
		"--line-number --max-columns --max-count --max-depth --multiline --no-filename --no-heading --no-ignore " +
		"--no-line-number --null --only-matching --passthru --pcre2 --quiet --regexp --replace --smart-case " +
		"--sort --sortr --stats --text --trim --type --type-not --vimgrep --with-filename --word-regexp "},
	"sort": {"bcCdfghikmMnrRstuVz", " --check --dictionary-order --field-separator --general-numeric-sort " +
		"--human-numeric-sort --ignore-case --ignore-leading-blanks --key --month-sort --numeric-sort --random-sort " +
		"--reverse --stable --unique --version-sort --zero-terminated "},
	"test": {"", " -a -b -c -d -e -ef -eq -f -g -ge -gt -h -k -L -le -lt -n -ne -nt -o -ot -p -r -s -S -t -u -w -x -z "},
	"tree": {"aCDdfFgIhiJlLnNpPqQrsStuUvxX", " --charset --dirsfirst --du --filelimit --filesfirst --gitignore " +
		"--ignore-case --inodes --noreport --prune --sort "},
	"uniq": {"cdDfisuwz", " --all-repeated --check-chars --count --ignore-case --repeated --skip-chars --skip-fields " +
		"--unique --zero-terminated "},
}

// readingGit are the subcommands of git that change nothing.
const readingGit = " status log diff show rev-parse ls-files blame describe "

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

// allow reports whether a word is none of the options with which a program may write.
func (o options) allow(w shellWord) bool {
	name, _, _ := strings.Cut(w.text, "=")
	switch {
	case w.open:
		return false
	case !strings.HasPrefix(w.text, "-"), w.text == "-", w.text == "--", listed(o.words, name):
		return true
	}
	return !strings.HasPrefix(w.text, "--") && !strings.ContainsFunc(w.text,
		func(r rune) bool { return unicode.IsLetter(r) && !strings.ContainsRune(o.letters, r) })
}

// onlyReads reports a call that changes nothing: of a tool that reads, or of a shell whose every
// step is a program that reads, with no output to a file. A shell of another grammar than
// POSIX's counts as one that writes, and so does a text of which a part is missing.
func onlyReads(call schemas.Evidence) bool {
	name := ToolName(call.Tool)
	switch {
	case name == "find" && !json.Valid([]byte(call.Input)): // the program, not a tool of a client
		return textOnlyReads(name + " " + call.Input)
	case !listed(shellTools, name):
		return listed(readingTools, name)
	case listed(otherShells, name), strings.HasSuffix(call.Input, "…"), strings.Contains(call.Input, schemas.LeftOut):
		return false
	}
	return textOnlyReads(call.Input)
}

func textOnlyReads(text string) bool {
	steps, ok := shellSteps(text)
	return ok && !slices.ContainsFunc(steps, func(words []shellWord) bool { return !stepOnlyReads(words) })
}

// stepOnlyReads reports whether a command of a shell changes nothing. A program of some folder
// counts as one that writes: the name is no proof of what it does.
func stepOnlyReads(words []shellWord) bool {
	program, arguments := words[0].text, words[1:]
	if folder := path.Dir(program); folder == "/bin" || folder == "/usr/bin" {
		program = path.Base(program)
	}
	if listed(" bash dash sh zsh ", program) && len(arguments) > 1 && listed(" -c -lc ", arguments[0].text) {
		if len(arguments) > 2 { // without the quotes that it had
			return stepOnlyReads(arguments[1:])
		}
		return !arguments[1].open && textOnlyReads(arguments[1].text)
	}
	o, writes := readingOptions[program]
	switch {
	case !writes:
		return listed(readingPrograms, program)
	case slices.ContainsFunc(arguments, func(w shellWord) bool { return !o.allow(w) }):
		return false
	}
	switch program {
	case "date": // one of digits sets the clock
		return !slices.ContainsFunc(arguments,
			func(w shellWord) bool { return strings.Trim(w.text, "0123456789.") == "" })
	case "git":
		return len(arguments) > 0 && listed(readingGit, arguments[0].text)
	case "uniq": // its second operand is where the output goes
		operands := slices.DeleteFunc(slices.Clone(arguments),
			func(w shellWord) bool { return strings.HasPrefix(w.text, "-") && len(w.text) > 1 && w.text != "--" })
		return len(operands) < 2 && !slices.ContainsFunc(operands,
			func(w shellWord) bool { return w.text == "--" || strings.ContainsAny(w.text, "*?[") })
	}
	return true
}
