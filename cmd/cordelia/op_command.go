package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

// command is one that calls one operation of the catalogue. Its flags are the
// operation's arguments, read from the published schema, so that the two faces
// cannot drift apart; validation and authorization are the operation's own.
type command struct {
	op      string // name in the catalogue
	use     string
	short   string
	long    string
	example string
	takes   []string          // arguments given by position; those that end in ? may be missing
	or      string            // what the first of them is if there is nothing of that name
	fixed   map[string]any    // arguments the command stands for
	names   map[string]string // flags named otherwise than their argument
	hide    []string          // arguments that belong to other commands of the operation
	fill    func(in map[string]any)
	prose   func(in map[string]any, text string) // takes plain words given for a JSON argument; nil refuses them
	show    func(a *app, answer any) error
	learns  bool                                             // what it shows names agents by their ids
	after   func(ctx context.Context, w *acting, answer any) // says beside the answer what else is so
	// the exit code, where an answer has one of its own
	ends func(answer any) error
}

// command renders it.
func (t command) command(a *app) *cobra.Command {
	known := argumentsOf(ops.Find(t.op))
	t.mustFit(known)
	var as string
	flags := map[string]*value{}
	cmd := &cobra.Command{
		Use: t.use, Short: t.short, Long: t.long, Example: "  " + t.example,
		Args: t.positions(),
		RunE: func(cmd *cobra.Command, words []string) error {
			in, err := t.input(a, cmd, known, flags, words)
			if err != nil {
				return err
			}
			return a.act(cmd.Context(), as, func(w *acting) error {
				answer, err := t.call(cmd.Context(), w, in)
				if err != nil {
					return t.worded(cmd, known, err)
				}
				if t.learns && !a.asJSON {
					if err := w.learn(cmd.Context(), answer); err != nil {
						return err
					}
				}
				if err := t.answer(a, answer); err != nil {
					return err
				}
				if t.after != nil {
					t.after(cmd.Context(), w, answer)
				}
				if t.ends != nil {
					return t.ends(answer)
				}
				return nil
			})
		},
	}
	for _, arg := range known {
		if t.free(arg.name) {
			flags[arg.name] = arg.flag(cmd, t.flagName(arg.name))
		}
	}
	asFlag(cmd, &as)
	a.completeTwin(cmd, t, known)
	a.opCommands = append(a.opCommands, opCommand{t, known, cmd})
	return cmd
}

// call calls the operation.
func (t command) call(ctx context.Context, w *acting, in map[string]any) (any, error) {
	answer, err := w.call(ctx, t.op, in)
	if t.or != "" && errors.Is(err, schemas.ErrNotFound) {
		in[t.or] = in[t.takes[0]]
		delete(in, t.takes[0])
		return w.call(ctx, t.op, in)
	}
	return answer, err
}

// mustFit ends a program whose commands and catalogue have drifted apart.
func (t command) mustFit(known map[string]argument) {
	mentioned := slices.Concat(t.takes, t.hide, sortedKeys(t.fixed), sortedKeys(t.names))
	if t.or != "" {
		mentioned = append(mentioned, t.or)
	}
	for _, name := range mentioned {
		if _, ok := known[strings.TrimSuffix(name, "?")]; !ok {
			panic(fmt.Sprintf("%s: %s has no argument %s", t.use, t.op, name))
		}
	}
}

func asFlag(cmd *cobra.Command, as *string) {
	cmd.Flags().StringVar(as, "as", "", "act as this agent: one whose key is on this machine, or a descendant of yours")
}

// answer prints what the operation answered.
func (t command) answer(a *app, answer any) error {
	if a.asJSON {
		return a.printJSON(answer)
	}
	return t.show(a, answer)
}

// free reports whether an argument is left to a flag.
func (t command) free(name string) bool {
	_, fixed := t.fixed[name]
	for _, taken := range slices.Concat(t.takes, t.hide) {
		fixed = fixed || strings.TrimSuffix(taken, "?") == name
	}
	fixed = fixed || name == t.or
	return !fixed && name != "as"
}

func (t command) flagName(arg string) string {
	if name := t.names[arg]; name != "" {
		return name
	}
	return strings.ReplaceAll(arg, "_", "-")
}

// positions checks how many words there are: the last argument takes all that
// remain if it is a list or free text.
func (t command) positions() cobra.PositionalArgs {
	var required []string
	for i, name := range t.takes {
		if !strings.HasSuffix(name, "?") {
			required = append(required, strings.Trim(strings.Fields(t.use)[i+1], "[]…"))
		}
	}
	most := len(t.takes)
	if most > 0 && takesRest(t.use) {
		most = maxWords
	}
	return wants(most, required...)
}

// maxWords bounds an argument that takes all remaining words.
const maxWords = 1000

// wants checks the words that follow a command: those that are required, by name, and at
// most so many.
func wants(most int, required ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, words []string) error {
		switch n := len(words); {
		case n < len(required):
			return schemas.Invalidf("%s needs %s", cmd.CommandPath(), strings.Join(required[n:], " ")).
				Expecting("%s", cmd.UseLine()).Try("run: %s --help", cmd.CommandPath())
		case n > most:
			return schemas.Invalidf("%s does not take %s", cmd.CommandPath(),
				schemas.Count(n, "argument", "arguments")).
				Expecting("%s", cmd.UseLine()).Try("run: %s --help", cmd.CommandPath())
		}
		return nil
	}
}

func takesRest(use string) bool { return strings.Contains(use, "…") }

// input gathers the arguments of the operation.
func (t command) input(a *app, cmd *cobra.Command, known map[string]argument, flags map[string]*value,
	words []string) (map[string]any, error) {
	in := map[string]any{}
	for name, v := range t.fixed {
		in[name] = v
	}
	for name, v := range flags {
		if !cmd.Flags().Changed(t.flagName(name)) {
			continue
		}
		given, err := v.read(a)
		if err != nil {
			return nil, err
		}
		in[name] = given
	}
	for i, take := range t.takes {
		name := strings.TrimSuffix(take, "?")
		if i >= len(words) {
			break
		}
		last := i == len(t.takes)-1 && takesRest(t.use)
		switch {
		case known[name].kind == listKind:
			in[name] = words[i:]
		case known[name].kind == jsonKind && t.prose != nil && isProse(words[i]):
			t.prose(in, words[i])
		case known[name].kind == jsonKind:
			v, err := a.readJSON(words[i])
			if err != nil {
				return nil, err
			}
			in[name] = v
		case last:
			in[name] = strings.Join(words[i:], " ")
		default:
			in[name] = words[i]
		}
	}
	if t.fill != nil {
		t.fill(in)
	}
	return in, nil
}

// isProse tells plain words from JSON, a file's name and - for stdin.
func isProse(text string) bool {
	if t := strings.TrimSpace(text); text == "-" || strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		return false
	}
	_, err := os.Stat(text)
	return err != nil && strings.TrimSpace(text) != "" &&
		(strings.Contains(text, " ") || !strings.ContainsAny(text, "./"))
}

// group is a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: func(cmd *cobra.Command, words []string) error {
		if len(words) == 0 {
			return nil
		}
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return schemas.Invalidf("there is no command %q under %s", words[0], cmd.CommandPath()).
			Expecting("%s", strings.Join(known, ", ")).Try("run: %s --help", cmd.CommandPath())
	}, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// shown shows the output of an operation.
func shown[Out any](show func(a *app, out Out)) func(*app, any) error {
	return func(a *app, answer any) error {
		out, err := outputOf[Out](answer)
		if err == nil {
			show(a, out)
		}
		return err
	}
}

// person runs f as the person at the terminal.
func (a *app) person(ctx context.Context, f func(*acting) error) error { return a.act(ctx, "", f) }
