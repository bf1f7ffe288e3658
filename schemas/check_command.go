package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Limits of a check's command.
const (
	maxCheckCommand = 4000 // bytes, the spaces between arguments included
	maxCheckArgs    = 100
	maxCheckExit    = 255
)

// commandViolations are those of what kind command takes, and other kinds do not.
func (c Check) commandViolations(at string) (bad []Violation) {
	add := func(field, format string, args ...any) {
		bad = append(bad, Violation{Path: at + field, Msg: fmt.Sprintf(format, args...)})
	}
	if c.Kind != CheckCommand {
		if c.Dir != "" {
			add("/dir", "has no meaning here; kind %s runs nothing", c.Kind)
		}
		if c.Exit != 0 {
			add("/exit", "has no meaning here; kind %s runs nothing", c.Kind)
		}
		return bad
	}
	if len(c.Command) > maxCheckArgs {
		add("/command", "has %d words, more than %d", len(c.Command), maxCheckArgs)
	}
	for i, word := range c.Command {
		if i == 0 && strings.TrimSpace(word) == "" || strings.ContainsRune(word, 0) {
			add("/command/"+strconv.Itoa(i),
				"cannot be part of a command: it begins with a program, and no word holds a zero byte")
		}
	}
	if c.Dir != "" && (len(c.Dir) > maxCheckPath || !staysBelow(c.Dir)) {
		add("/dir", "must be relative, with slashes, at most %d bytes, and stay below the folder it is looked for in",
			maxCheckPath)
	}
	if c.Exit < 0 || c.Exit > maxCheckExit {
		add("/exit", "must be 0–%d", maxCheckExit)
	}
	return bad
}

// staysBelow reports whether a path with slashes cannot lead out of a folder.
func staysBelow(path string) bool {
	return filepath.IsLocal(filepath.FromSlash(path)) && !strings.ContainsAny(path, "\\\x00")
}

// String is what the check looks at or runs, in a line; what a reader could take for
// something else is quoted.
func (c Check) String() string {
	path := legible(c.Path, "")
	switch c.Kind {
	case CheckRegex:
		return fmt.Sprintf("%s matches %q", path, c.Pattern)
	case CheckJSONPath:
		return fmt.Sprintf("%s at %s equals %s", path, legible(c.JSONPath, ""), c.value())
	case CheckDate:
		return c.value()
	case CheckCommand:
		words := make([]string, len(c.Command))
		for i, w := range c.Command {
			words[i] = legible(w, ` "`)
		}
		if c.Dir == "" {
			return strings.Join(words, " ")
		}
		return fmt.Sprintf("%s (in %s)", strings.Join(words, " "), legible(c.Dir, ""))
	}
	return path
}

// legible quotes a text that is empty, or holds what does not show or one of apart.
func legible(s, apart string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) ||
		strings.ContainsAny(s, apart) {
		return strconv.Quote(s)
	}
	return s
}

// value is what equals says, without breaks.
func (c Check) value() string {
	var text bytes.Buffer
	if json.Compact(&text, c.Equals) != nil {
		return strconv.Quote(string(c.Equals))
	}
	return legible(text.String(), "")
}

// Exits of the evidence of a machine check about a file or the date; that of a
// command is the command's own.
const (
	CheckHolds = 0
	CheckFails = 1
	CheckStale = 3 // the file was not written since the attempt began
)

// CheckTool is what evidence of a machine check of that kind names as its tool.
func CheckTool(k CheckKind) string { return "check_" + string(k) }

// Stale reports whether e is of a machine check that found an older file.
func (e Evidence) Stale() bool {
	return e.Exit == CheckStale && strings.HasPrefix(e.Tool, CheckTool("")) && e.Tool != CheckTool(CheckCommand)
}
