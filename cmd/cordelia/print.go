package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"cordelia/cmd/cordelia/platform"
	"cordelia/ops"
	"cordelia/schemas"
)

// printJSON prints v for programs. What could hide in text of agents is written
// as JSON escapes.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.out.Write(ops.EscapeJSON(b.Bytes()))
	return err
}

// style is how a terminal shows a text.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// columns is the width of the terminal f, 0 if f is none.
func columns(f *os.File) int {
	wide, _ := platform.TerminalSize(f)
	return wide
}

// colours reports whether a terminal reads the output and its user wants them.
func (a *app) colours() bool { return os.Getenv("NO_COLOR") == "" && columns(a.out) > 0 }

func paint(on bool, s style, text string) string {
	if !on || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// say prints a line for people. Arguments that agents wrote go through clean.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }

// note prints a line beside the output.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.errOut, "cordelia: %s\n", schemas.ShortIDs(fmt.Sprintf(format, args...)))
}

// clean makes a text safe for one line of a terminal: hidden characters show,
// line breaks are blanks.
func clean[S ~string](s S) string {
	return ops.Line(strings.ToValidUTF8(string(s), "\uFFFD"))
}

// block makes a text safe for a terminal and keeps its lines.
func block(s string) string { return ops.Escape(strings.ToValidUTF8(s, "\uFFFD")) }

// clock shows a tool's timestamp in the user's time zone, "" as it is.
func clock(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return clean(stamp)
	}
	return zoned(t)
}

// zoned shows a time in the user's time zone, and says which that is.
func zoned(t time.Time) string {
	t = t.Local()
	if _, offset := t.Zone(); offset == 0 {
		return t.Format("2006-01-02 15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}

// now is the node's time, as it is shown.
func (w *acting) now() string { return zoned(w.node.Now()) }

// short is how an id is shown: enough of it to name it. A name stays as it is.
func short[S ~string](id S) string {
	if schemas.IsAgentID(string(id)) {
		return string(id[:12])
	}
	return clean(schemas.ShortID(string(id)))
}

// shorts shows ids in a line.
func shorts[S ~string](ids []S) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = short(id)
	}
	return strings.Join(list, " ")
}

// whom is an entity by its name, and by its id where others may have that name.
func whom[S ~string](name string, id S) string {
	if name == "" || name == string(id) {
		return short(id)
	}
	return fmt.Sprintf("%s (%s)", clean(name), short(id))
}

// printLine prints v as one line of JSON.
func (a *app) printLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = a.out.Write(append(ops.EscapeJSON(raw), '\n'))
	return err
}

// sortedKeys lists the names in m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func names[S ~string](list []S) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = string(v)
	}
	return strings.Join(s, ", ")
}

// quoted is a path as one word of a command line.
func quoted(path string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune("/._-+:@"+string(filepath.Separator), r)
	}
	switch {
	case !strings.ContainsFunc(path, special):
		return path
	case runtime.GOOS == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
