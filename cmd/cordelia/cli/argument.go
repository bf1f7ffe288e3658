package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

// kind says how an argument is given on the command line.
type kind string

const (
	textKind   kind = "string"
	wholeKind  kind = "integer"
	numberKind kind = "number"
	truthKind  kind = "boolean"
	listKind   kind = "array"
	jsonKind   kind = "object" // JSON, or a file with it
)

// argument is one argument of an operation.
type argument struct {
	name, help string
	kind       kind
	choices    []string
}

// argumentsOf gives an operation's arguments by name. An operation
// that is not in the catalogue, or without a schema, is a defect of this program.
func argumentsOf(o *ops.Operation) map[string]argument {
	list, err := o.Arguments()
	if err != nil {
		panic(err)
	}
	known := map[string]argument{}
	for _, p := range list {
		a := argument{name: p.Name, kind: kind(p.Type), help: p.Description, choices: p.Choices}
		if text := flagHelp(o.Name, p.Name); text != "" {
			a.help = text
		}
		if a.kind == listKind && kind(p.Elements) != textKind {
			a.kind, a.choices = jsonKind, nil
		}
		known[p.Name] = a
	}
	return known
}

// value is where cobra leaves what was given for an argument.
type value struct {
	kind   kind
	text   string
	list   []string
	whole  int64
	number float64
	isBool bool
}

// flag adds the argument's flag to cmd.
func (g argument) flag(cmd *cobra.Command, name string) *value {
	v := &value{kind: g.kind}
	help := g.help
	if len(g.choices) > 0 {
		help += ": " + strings.Join(g.choices, ", ")
	}
	f := cmd.Flags()
	switch g.kind {
	case wholeKind:
		f.Int64Var(&v.whole, name, 0, help)
	case numberKind:
		f.Float64Var(&v.number, name, 0, help)
	case truthKind:
		f.BoolVar(&v.isBool, name, false, help)
	case listKind:
		f.StringArrayVar(&v.list, name, nil, help+" (repeatable)")
	case jsonKind:
		f.StringVar(&v.text, name, "", help+" (JSON, a `file` with it, or - for stdin)")
	default:
		f.StringVar(&v.text, name, "", help)
	}
	if len(g.choices) > 0 {
		cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(g.choices,
			cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag exists
	}
	return v
}

// read gives what was said, as the operation wants it.
func (v *value) read(a *App) (any, error) {
	switch v.kind {
	case wholeKind:
		return v.whole, nil
	case numberKind:
		return v.number, nil
	case truthKind:
		return v.isBool, nil
	case listKind:
		if len(v.list) == 1 && v.list[0] == "" {
			return []string{}, nil // --groups "" empties the list
		}
		return v.list, nil
	case jsonKind:
		return a.ReadJSON(v.text)
	}
	return v.text, nil
}

// maxInput bounds a file of arguments, in bytes.
const maxInput = 1 << 20

// jsonForms are the forms of an argument that is JSON.
const jsonForms = "JSON, the name of a file with JSON, or - for stdin"

// ReadJSON reads JSON: the text itself, - for stdin, or the name of a file.
func (a *App) ReadJSON(s string) (json.RawMessage, error) {
	if strings.TrimSpace(s) == "" {
		return nil, schemas.Invalidf("what was given is empty").Expecting(jsonForms).
			Try("--help shows what belongs there")
	}
	raw := []byte(s)
	if t := strings.TrimSpace(s); !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") {
		in := a.In
		if s != "-" {
			f, err := os.Open(s)
			if err != nil {
				return nil, schemas.Invalidf("%q is neither JSON nor a file that can be read", s).
					Expecting(jsonForms).Try(
					`write JSON in single quotes: '{"name": "text"}'`).Because(err)
			}
			defer f.Close() //nolint:errcheck // only read
			in = f
		}
		var err error
		if raw, err = io.ReadAll(io.LimitReader(in, maxInput+1)); err != nil {
			return nil, schemas.Invalidf("%s cannot be read", s).Because(err)
		}
		if len(raw) > maxInput {
			return nil, schemas.Invalidf("%s is too large", s).Expecting("at most %d bytes", maxInput)
		}
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) {
		return nil, schemas.Invalidf("this is not JSON: %.40s", Clean(string(raw))).
			Expecting(`names and texts in ", such as {"name": "text"} or [1, 2]`).Try(
			"correct it; --help shows what belongs there")
	}
	return raw, nil
}
