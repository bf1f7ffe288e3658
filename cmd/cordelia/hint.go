package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

// opCommand is a command with its flags, for hints that name its operation.
type opCommand struct {
	command
	known map[string]argument
	cmd   *cobra.Command
}

// named finds an operation in a text, with the word before it and what says which of
// its commands is meant.
var named = regexp.MustCompile(
	`(?:\b(call|run:?) )?\b([a-z]+(?:_[a-z]+)*)\b(?:(?:,| with)?(?: the)? action[ =](\w+)|( without arguments)?)`)

// hint words what to do next for a terminal: its calls as commands.
func (a *app) hint(h schemas.Hint) string {
	return h.In(nil, func(c schemas.Call) string {
		given := map[string]json.RawMessage{}
		for _, arg := range c.Args {
			if raw, err := json.Marshal(arg.Value); err == nil { // of texts, numbers and lists
				given[arg.Name] = raw
			}
		}
		command := a.command(c.Tool, given, c.Bare)
		if c.Do {
			return "run " + command
		}
		return command
	})
}

// commands names the commands where a text that was written for tools names those:
// whoever reads it is at a terminal.
func (a *app) commands(text string) string {
	var b strings.Builder
	for {
		at := named.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		rest := text[at[1]:]
		if op := group(2); ops.Find(op) == nil {
			b.WriteString(text[:at[1]])
		} else {
			given := map[string]json.RawMessage{}
			rest = arguments(rest, given)
			if action := group(3); action != "" {
				given["action"], _ = json.Marshal(action) // a word
			}
			command := a.command(op, given, group(4) != "")
			b.WriteString(text[:at[0]])
			if group(1) != "" {
				b.WriteString("run ")
			}
			b.WriteString(command)
		}
		text = rest
	}
}

// arguments takes the JSON object that text begins with, if it does.
func arguments(text string, into map[string]json.RawMessage) (rest string) {
	d := json.NewDecoder(strings.NewReader(text))
	if !strings.HasPrefix(text, " {") || d.Decode(&into) != nil {
		return text
	}
	return text[d.InputOffset():]
}

// command words a call of an operation for a terminal: by the first of its commands
// that takes what is given. bare asks for one that takes no words.
func (a *app) command(op string, given map[string]json.RawMessage, bare bool) string {
	of := slices.Collect(func(yield func(opCommand) bool) {
		for _, s := range a.opCommands {
			if s.op == op && !yield(s) {
				return
			}
		}
	})
	at := slices.IndexFunc(of, func(s opCommand) bool { return s.takesAll(given) && (!bare || len(s.takes) == 0) })
	switch {
	case at < 0:
		return op
	case len(of) > 1 && len(of[at].fixed) > 0 && len(given) == 0:
		return of[at].cmd.Parent().CommandPath() // which of them is not said
	}
	return of[at].words(given)
}

// takesAll reports whether a command takes what is given.
func (s opCommand) takesAll(given map[string]json.RawMessage) bool {
	for name, value := range s.fixed {
		fixed, err := json.Marshal(value)
		if err != nil || given[name] != nil && !bytes.Equal(given[name], fixed) {
			return false
		}
	}
	for name := range given {
		if slices.Contains(s.hide, name) {
			return false
		}
	}
	return true
}

// words is the command with what is given as words and flags.
func (s opCommand) words(given map[string]json.RawMessage) string {
	line := []string{s.cmd.CommandPath()}
	for i, name := range s.takes {
		value := given[strings.TrimSuffix(name, "?")]
		if value == nil && i == 0 {
			value = given[s.or]
		}
		if value != nil {
			line = append(line, values(value)...)
		}
	}
	for _, name := range sortedKeys(given) {
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
