package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckKind is how a machine finds out whether something is so.
type CheckKind string

const (
	CheckFile     CheckKind = "file"      // there is a file at path
	CheckRegex    CheckKind = "regex"     // the file at path matches pattern (RE2)
	CheckJSONPath CheckKind = "json_path" // in the JSON file at path, json_path leads to what equals says
	CheckDate     CheckKind = "date"      // the day that equals names has come, UTC
	CheckCommand  CheckKind = "command"   // command, run in dir, ends with exit
)

// CheckKinds lists every kind.
func CheckKinds() []CheckKind { return append(ForesightKinds(), CheckCommand) }

// ForesightKinds lists what a prediction may name: what can be looked at. Nothing
// is run because an agent says how it will come out.
func ForesightKinds() []CheckKind {
	return []CheckKind{CheckFile, CheckRegex, CheckJSONPath, CheckDate}
}

// Limits of a check.
const (
	maxCheckPath    = 500 // bytes
	maxCheckPattern = 500
	maxCheckEquals  = 2000
)

// Check is a condition that a machine can test: on a file below a folder, on the date, or by
// running a command in such a folder. The runner of the check chooses the folder.
type Check struct {
	Kind     CheckKind       `json:"kind"`
	Path     string          `json:"path,omitempty"`      // relative, with slashes, without ..
	Pattern  string          `json:"pattern,omitempty"`   // for regex
	JSONPath string          `json:"json_path,omitempty"` // for json_path: $.name.list[0]
	Equals   json.RawMessage `json:"equals,omitempty"`    // for json_path any JSON value, for date a date
	// for command: a program and its arguments; no shell reads them
	Command []string `json:"command,omitempty"`
	Dir     string   `json:"dir,omitempty"`  // for command, like path; "" = the folder itself
	Exit    int      `json:"exit,omitempty"` // for command: the exit code that passes
}

// ParseCheck reads a check of one of these kinds and reports everything wrong with
// it, with paths below at.
func ParseCheck(raw []byte, at string, kinds []CheckKind) (Check, []Violation) {
	var c Check
	if err := c.read(raw); err != nil {
		return Check{}, []Violation{{Path: at,
			Msg: "must be a check: kind, and path, pattern, json_path, equals, command, dir, exit as the kind needs"}}
	}
	switch {
	case slices.Contains(kinds, c.Kind):
		return c, c.violations(at)
	case slices.Contains(CheckKinds(), c.Kind):
		return Check{}, []Violation{{Path: at + "/kind",
			Msg: fmt.Sprintf("must be one of %s: kind %s is for criteria of tasks alone", Joined(kinds), c.Kind)}}
	}
	return Check{}, []Violation{{Path: at + "/kind", Msg: fmt.Sprintf("must be one of %s", Joined(kinds))}}
}

// read takes exactly the fields of a check, each once and spelt as it is:
// encoding/json would take Kind for kind, and the last of two.
func (c *Check) read(raw []byte) error {
	wrong := errors.New("no check")
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return wrong
	}
	fields := map[string]any{"kind": &c.Kind, "path": &c.Path, "pattern": &c.Pattern, "json_path": &c.JSONPath,
		"equals":  &c.Equals,
		"command": &c.Command, "dir": &c.Dir, "exit": &c.Exit}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := name.(string)
		if fields[text] == nil {
			return wrong
		}
		if err := d.Decode(fields[text]); err != nil {
			return err
		}
		delete(fields, text)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong
	}
	return nil
}

// needs lists what each kind takes, all of it required.
func (k CheckKind) needs() []string {
	switch k {
	case CheckFile:
		return []string{"path"}
	case CheckRegex:
		return []string{"path", "pattern"}
	case CheckJSONPath:
		return []string{"path", "json_path", "equals"}
	case CheckDate:
		return []string{"equals"}
	case CheckCommand:
		return []string{"command"}
	}
	return nil
}

func (c Check) violations(at string) (bad []Violation) {
	add := func(field, format string, args ...any) {
		bad = append(bad, Violation{Path: at + field, Msg: fmt.Sprintf(format, args...)})
	}
	needs := c.Kind.needs()
	takes := " " + strings.Join(needs, " ") + " "
	for _, f := range []struct {
		name, value string
		limit       int
	}{{"path", c.Path, maxCheckPath}, {"pattern", c.Pattern, maxCheckPattern}, {"json_path", c.JSONPath, maxCheckPath},
		{"equals", string(c.Equals), maxCheckEquals},
		{"command", strings.Join(c.Command, " "), maxCheckCommand}} {
		wanted := strings.Contains(takes, " "+f.name+" ")
		switch {
		case wanted && f.value == "":
			add("/"+f.name, "is missing; kind %s takes %s", c.Kind, strings.Join(needs, ", "))
		case !wanted && f.value != "":
			add("/"+f.name, "has no meaning here; kind %s takes %s", c.Kind, strings.Join(needs, ", "))
		case len(f.value) > f.limit:
			add("/"+f.name, "is %d bytes long, more than %d", len(f.value), f.limit)
		}
	}
	bad = append(bad, c.commandViolations(at)...)
	if len(bad) > 0 {
		return bad
	}
	if c.Path != "" && !staysBelow(c.Path) {
		add("/path", "must be relative, with slashes, and stay below the folder it is looked for in")
	}
	if _, err := regexp.Compile(c.Pattern); err != nil {
		add("/pattern", "is not a regular expression of RE2")
	}
	if c.JSONPath != "" {
		if _, err := c.Steps(); err != nil {
			add("/json_path", "%v", err)
		}
	}
	if _, ok := c.Day(); c.Kind == CheckDate && !ok {
		add("/equals", `must be a date, like "2026-11-20"`)
	}
	return bad
}

// Day is when a check of kind date begins to hold.
func (c Check) Day() (t time.Time, ok bool) {
	var s string
	if json.Unmarshal(c.Equals, &s) != nil {
		return t, false
	}
	t, err := time.Parse(time.DateOnly, s)
	return t, err == nil
}

// Steps are the names (string) and places (int) json_path leads through: of
// RFC 9535 the part that leads to one value, $ .name ['name'] [0].
func (c Check) Steps() ([]any, error) {
	wrong := fmt.Errorf("is not a path like $.name.list[0]['other name']")
	rest, ok := strings.CutPrefix(c.JSONPath, "$")
	if !ok {
		return nil, wrong
	}
	var steps []any
	for rest != "" {
		m := jsonStep.FindStringSubmatch(rest)
		switch {
		case m == nil:
			return nil, wrong
		case m[3] != "":
			n, err := strconv.Atoi(m[3])
			if err != nil {
				return nil, wrong
			}
			steps = append(steps, n)
		default:
			steps = append(steps, m[1]+m[2])
		}
		rest = rest[len(m[0]):]
	}
	return steps, nil
}

var jsonStep = regexp.MustCompile(`^(?:\.([\pL_][\pL\pN_-]*)|\['([^']+)'\]|\[(0|[1-9][0-9]{0,8})\])`)
