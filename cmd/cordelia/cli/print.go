package cli

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

// PrintJSON prints v for programs. What could hide in text of agents is written
// as JSON escapes.
func (a *App) PrintJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.Out.Write(ops.EscapeJSON(b.Bytes()))
	return err
}

// Style is how a terminal shows a text.
type Style string

const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Columns is the width of the terminal f, 0 if f is none.
func Columns(f *os.File) int {
	wide, _ := platform.TerminalSize(f)
	return wide
}

// Colours reports whether a terminal reads the output and its user wants them.
func (a *App) Colours() bool { return os.Getenv("NO_COLOR") == "" && Columns(a.Out) > 0 }

// Paint gives text a style, if on.
func Paint(on bool, s Style, text string) string {
	if !on || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Say prints a line for people. Arguments that agents wrote go through clean.
func (a *App) Say(format string, args ...any) { fmt.Fprintf(a.Out, a.hereFormat(format)+"\n", args...) }

// Note prints a line beside the output.
func (a *App) Note(format string, args ...any) {
	fmt.Fprintf(a.ErrOut, "cordelia: %s\n", schemas.ShortIDs(fmt.Sprintf(a.hereFormat(format), args...)))
}

// Clean makes a text safe for one line of a terminal: hidden characters show,
// line breaks are blanks.
func Clean[S ~string](s S) string {
	return ops.Line(strings.ToValidUTF8(string(s), "\uFFFD"))
}

// Block makes a text safe for a terminal and keeps its lines.
func Block(s string) string { return ops.Escape(strings.ToValidUTF8(s, "\uFFFD")) }

// Clock shows a tool's timestamp in the user's time zone, "" as it is.
func Clock(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return Clean(stamp)
	}
	return Zoned(t)
}

// Zoned shows a time in the user's time zone, and says which that is.
func Zoned(t time.Time) string {
	t = t.Local()
	if _, offset := t.Zone(); offset == 0 {
		return t.Format("2006-01-02 15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}

// ClockMinute shows a timestamp of which only the minute counts, as wide as Clock does.
func ClockMinute(stamp string) string {
	clock := Clock(stamp)
	if len(clock) < len(time.DateTime) {
		return clock
	}
	return clock[:len("2006-01-02 15:04")] + clock[len(time.DateTime):] + "   "
}

// Now is the node's time, as it is shown.
func (w *Acting) Now() string { return Zoned(w.Node.Now()) }

// Short is how an id is shown: enough of it to name it. A name stays as it is.
func Short[S ~string](id S) string {
	if schemas.IsAgentID(string(id)) {
		return string(id[:12])
	}
	return Clean(schemas.ShortID(string(id)))
}

// Shorts shows ids in a line.
func Shorts[S ~string](ids []S) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = Short(id)
	}
	return strings.Join(list, " ")
}

// Whom is an entity by its name, and by its id where others may have that name.
func Whom[S ~string](name string, id S) string {
	if name == "" || name == string(id) {
		return Short(id)
	}
	return fmt.Sprintf("%s (%s)", Clean(name), Short(id))
}

// PrintLine prints v as one line of JSON.
func (a *App) PrintLine(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(append(ops.EscapeJSON(raw), '\n'))
	return err
}

// SortedKeys lists the names in m in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Quoted is a path as one word of a command line.
func Quoted(path string) string {
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
