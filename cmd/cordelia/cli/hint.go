package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/schemas"
)

// opCommand is a command with its flags, for hints that name its operation.
type opCommand struct {
	Command
	known map[string]argument
	cmd   *cobra.Command
}

// Hint words what to do next for a terminal: its calls as commands.
func (a *App) Hint(h schemas.Hint) string { return a.inCommands(h, "") }

// Advice words what an answer says to do next for a terminal: its calls as commands of
// the one that called, as the answer is to that one.
func (a *App) Advice(h schemas.Hint) string { return Clean(a.inCommands(h, a.As)) }

// inCommands words a hint with its calls as commands, of the agent as where a call names
// none; "" for the person.
func (a *App) inCommands(h schemas.Hint, as string) string {
	return h.In(a.Here, func(c schemas.Call) string {
		given := map[string]json.RawMessage{}
		if as != "" && !c.Other {
			given["as"] = schemas.Arg{Value: as}.Raw()
		}
		for _, arg := range c.Args {
			given[arg.Name] = arg.Raw()
		}
		lacks := ""
		if c.Lacked && as != "" {
			lacks = " (" + as + " lacks it; to give it: cordelia agent capabilities " + as + " --tools +" + c.Tool + ")"
		}
		if !c.Do {
			return a.Here(a.command(c.Tool, given, c.Bare)) + lacks
		}
		if s := a.typed(); s != nil && s.Op == c.Tool && s.takesAll(given) {
			return a.Here("run "+s.words(given)) + lacks // once more, by the same name
		}
		return a.Here("run "+a.command(c.Tool, given, c.Bare)) + lacks
	})
}

// typed is the command of this run, nil if it calls no operation of its own.
func (a *App) typed() *opCommand {
	at := slices.IndexFunc(a.opCommands, func(s opCommand) bool { return s.cmd == a.Typed })
	if a.Typed == nil || at < 0 {
		return nil
	}
	return &a.opCommands[at]
}

// Operation is the operation that the command of this run calls, "" for none of its own.
func (a *App) Operation() string {
	if s := a.typed(); s != nil {
		return s.Op
	}
	return ""
}

// command words a call of an operation for a terminal: by the first of its commands
// that takes what is given. bare asks for one that takes no words.
func (a *App) command(op string, given map[string]json.RawMessage, bare bool) string {
	of := slices.Collect(func(yield func(opCommand) bool) {
		for _, s := range a.opCommands {
			if s.Op == op && !yield(s) {
				return
			}
		}
	})
	at := slices.IndexFunc(of, func(s opCommand) bool { return s.takesAll(given) && (!bare || len(s.Takes) == 0) })
	switch {
	case at < 0:
		return op
	case len(of) > 1 && len(of[at].Fixed) > 0 && (len(given) == 0 || len(given) == 1 && given["as"] != nil):
		return of[at].cmd.Parent().CommandPath() // which of them is not said
	}
	return of[at].words(given)
}

// takesAll reports whether a command takes what is given.
func (s opCommand) takesAll(given map[string]json.RawMessage) bool {
	for name, value := range s.Fixed {
		fixed, err := json.Marshal(value)
		if err != nil || given[name] != nil && !bytes.Equal(given[name], fixed) {
			return false
		}
	}
	for name := range given {
		if s.hides(name) {
			return false
		}
	}
	return true
}

// words is the command with what is given as words and flags.
func (s opCommand) words(given map[string]json.RawMessage) string {
	line := []string{s.cmd.CommandPath()}
	for i, name := range s.Takes {
		value := given[strings.TrimSuffix(name, "?")]
		if value == nil && i == 0 {
			value = given[s.Or]
		}
		if value != nil {
			line = append(line, values(value)...)
		}
	}
	for _, name := range SortedKeys(given) {
		if !s.free(name) {
			continue
		}
		flag := "--" + s.flagName(name)
		switch s.known[name].kind {
		case truthKind:
			line = append(line, strings.TrimSuffix(flag+"="+string(given[name]), "=true"))
		case listKind:
			for _, v := range values(given[name]) {
				line = append(line, flag, v)
			}
		default:
			line = append(line, flag, word(given[name]))
		}
	}
	if as := given["as"]; as != nil {
		line = append(line, "--as", word(as))
	}
	return strings.Join(line, " ")
}

// values are the elements of a JSON list, or the value itself, as a shell takes them.
func values(value json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = word(v)
	}
	return words
}

// word writes a JSON value as a shell takes it.
func word(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
