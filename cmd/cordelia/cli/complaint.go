package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/schemas"
)

// Complain prints an error the way tools answer it.
func (a *App) Complain(err error) {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok {
		fmt.Fprintln(a.ErrOut, "cordelia:", Block(err.Error()))
		return
	}
	say := func(format string, args ...any) { fmt.Fprint(a.ErrOut, schemas.ShortIDs(fmt.Sprintf(format, args...))) }
	say("cordelia: %s\n", Block(e.Msg)) // it may quote what agents wrote
	for _, v := range e.Violations {
		say("  %s %s\n", Block(field(v.Path)), Block(v.Msg))
	}
	if e.Expected != "" {
		say("expected: %s\n", Block(e.Expected))
	}
	switch {
	case len(e.Hint) > 0:
		say("next: %s\n", Block(a.Hint(e.Hint)))
	case e.Code == schemas.CodeInvalid && a.Typed != nil:
		say("next: run: %s --help\n", a.Typed.CommandPath())
	}
	if e.Err != nil {
		slog.Debug("cause", "err", e.Err)
	}
}

// field is where a violation is: a pointer as a field, behind the flag or word it is in.
func field(path string) string {
	at := strings.Index(path, "/")
	if at < 0 || at > 0 && path[at-1] != ' ' {
		return path
	}
	return path[:at] + schemas.FieldPath(path[at:])
}

// Misunderstood words what cobra says of a command line as other refusals are.
func Misunderstood(root *cobra.Command, err error) error {
	if _, ok := errors.AsType[*schemas.Error](err); ok {
		return err
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	refusal := schemas.Invalidf("%s", message).Try("run: %s --help", root.CommandPath())
	var word string
	if n, _ := fmt.Sscanf(message, "unknown command %q for", &word); n == 1 {
		near := slices.DeleteFunc(root.SuggestionsFor(word), func(name string) bool {
			return !strings.HasPrefix(strings.ToLower(word), name[:1]) // few slips are in the first letter
		})
		if len(near) > 0 {
			refusal = refusal.Expecting("%s", strings.Join(near, " or "))
		}
	}
	return refusal
}

// WrongFlag words what is wrong with a flag.
func WrongFlag(cmd *cobra.Command, err error) error {
	refusal := schemas.Invalidf("%v", err)
	if none, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if short := none.GetSpecifiedName(); len(short) == 1 && short >= "0" && short <= "9" { // a number, not a flag
			return refusal.Try("put -- before what begins with a dash and is no flag: %s -- WORDS", cmd.CommandPath())
		}
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := wrong.GetFlag()
		refusal = schemas.Invalidf("--%s does not take %q", f.Name, wrong.GetValue())
		switch kind := f.Value.Type(); kind {
		case "int", "int64":
			refusal = refusal.Expecting("a whole number")
		case "bool":
			refusal = refusal.Expecting("true or false")
		case "float64":
			refusal = refusal.Expecting("a number")
		default:
			refusal = refusal.Expecting("a %s", kind)
		}
	}
	return refusal.Try("run: %s --help", cmd.CommandPath())
}

// worded names flags and words where a refusal names arguments of the operation.
func (t Command) worded(cmd *cobra.Command, known map[string]argument, err error) error {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok || e.Code != schemas.CodeInvalid || len(e.Violations) == 0 {
		return err
	}
	out := *e
	out.Msg = strings.Replace(e.Msg, t.Op, cmd.CommandPath(), 1)
	if strings.HasPrefix(e.Expected, "only ") { // the list of arguments: unknown flags are refused elsewhere
		out.Expected = cmd.UseLine()
	}
	out.Violations = slices.Clone(e.Violations)
	for i, v := range out.Violations {
		name, rest, deeper := strings.Cut(strings.TrimPrefix(v.Path, "/"), "/")
		if _, ok := known[name]; !ok {
			continue
		}
		if t.Prose != nil && !deeper && t.takes(name) && strings.HasPrefix(v.Msg, "is missing") {
			out.Violations[i].Msg = "is missing: the words to keep, or JSON; --help shows its fields"
		}
		if out.Violations[i].Path = t.givenAs(name); deeper {
			out.Violations[i].Path += " /" + rest
		}
	}
	return &out
}

// givenAs is how an argument is given: as a flag, or as a word at its place.
func (t Command) givenAs(name string) string {
	if t.free(name) {
		return "--" + t.flagName(name)
	}
	words := strings.Fields(t.Use)
	for i, taken := range t.Takes {
		if strings.TrimSuffix(taken, "?") == name && i+1 < len(words) && !strings.Contains(words[i+1], "|") {
			return strings.Trim(words[i+1], "[]…")
		}
	}
	return name
}

// HintOf is what an error says to do next, "" if it says nothing.
func (a *App) HintOf(err error) string {
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		return a.Hint(e.Hint)
	}
	return ""
}
