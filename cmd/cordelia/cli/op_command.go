package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

// Command is one that calls one operation of the catalogue. Its flags are the
// operation's arguments, read from the published schema, so that the two faces
// cannot drift apart; validation and authorization are the operation's own.
type Command struct {
	Op      string // name in the catalogue
	Use     string
	Short   string
	Long    string
	Example string
	Takes   []string          // arguments given by position; those that end in ? may be missing
	Or      string            // what the first of them is if there is nothing of that name
	Fixed   map[string]any    // arguments the command stands for
	Names   map[string]string // flags named otherwise than their argument
	Hide    []string          // arguments that belong to other commands of the operation
	Only    []string          // all that flags give; nil: what is left. A new argument does not reach such a command
	Fill    func(in map[string]any)
	Prose   func(in map[string]any, text string) // takes plain words given for a JSON argument; nil refuses them
	Show    func(a *App, answer any) error
	Explain string                                           // help of --explain: results have their scores; "" = none
	Learns  bool                                             // what it shows names agents by their ids
	After   func(ctx context.Context, w *Acting, answer any) // says beside the answer what else is so
	// the exit code, where it depends on the answer
	Ends func(answer any) error
}

// Command renders it.
func (t Command) Command(a *App) *cobra.Command {
	known := argumentsOf(ops.Find(t.Op))
	t.mustFit(known)
	var as, explainItem string
	var explain bool
	flags := map[string]*value{}
	cmd := &cobra.Command{
		Use: t.Use, Short: t.Short, Long: t.Long, Example: "  " + t.Example,
		Args: t.positions(),
		RunE: func(cmd *cobra.Command, words []string) error {
			in, err := t.input(a, cmd, known, flags, words)
			if err != nil {
				return err
			}
			return a.Act(cmd.Context(), as, func(w *Acting) error {
				w.Caller.Explains, w.Caller.ExplainsItem = explain, explainItem
				answer, err := t.call(cmd.Context(), w, in)
				if err != nil {
					return t.worded(cmd, known, err)
				}
				if t.Learns && !a.AsJSON {
					if err := w.Learn(cmd.Context(), answer); err != nil {
						return err
					}
				}
				if err := t.answer(a, answer); err != nil {
					return err
				}
				if t.After != nil {
					t.After(cmd.Context(), w, answer)
				}
				if t.Ends != nil {
					return t.Ends(answer)
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
	if t.Explain != "" {
		cmd.Flags().BoolVar(&explain, "explain", false, t.Explain)
		cmd.Flags().StringVar(&explainItem, "explain-item", "", "the `id` of an item: say where it stands, or why it is not among "+
			"the results")
	}
	AsFlag(cmd, &as)
	a.completeTwin(cmd, t, known)
	a.opCommands = append(a.opCommands, opCommand{t, known, cmd})
	return cmd
}

// call calls the operation.
func (t Command) call(ctx context.Context, w *Acting, in map[string]any) (any, error) {
	answer, err := w.Call(ctx, t.Op, in)
	if t.Or != "" && errors.Is(err, schemas.ErrNotFound) {
		in[t.Or] = in[t.Takes[0]]
		delete(in, t.Takes[0])
		return w.Call(ctx, t.Op, in)
	}
	return answer, err
}

// mustFit ends a program whose commands and catalogue have drifted apart.
func (t Command) mustFit(known map[string]argument) {
	mentioned := slices.Concat(t.Takes, t.Hide, t.Only, SortedKeys(t.Fixed), SortedKeys(t.Names))
	if t.Or != "" {
		mentioned = append(mentioned, t.Or)
	}
	for _, name := range mentioned {
		if _, ok := known[strings.TrimSuffix(name, "?")]; !ok {
			panic(fmt.Sprintf("%s: %s has no argument %s", t.Use, t.Op, name))
		}
	}
}

// AsFlag adds the flag --as to a command.
func AsFlag(cmd *cobra.Command, as *string) {
	cmd.Flags().StringVar(as, "as", "", "act as this agent: one whose key is on this machine, or a descendant of yours")
}

// answer prints what the operation answered.
func (t Command) answer(a *App, answer any) error {
	if a.AsJSON {
		return a.PrintJSON(answer)
	}
	return t.Show(a, answer)
}

// free reports whether an argument is left to a flag.
func (t Command) free(name string) bool {
	return name != "as" && !t.takes(name) && !t.hides(name)
}

// takes reports whether a word gives an argument, or the command stands for it.
func (t Command) takes(name string) bool {
	_, fixed := t.Fixed[name]
	return fixed || name == t.Or || slices.Contains(t.Takes, name) || slices.Contains(t.Takes, name+"?")
}

// hides reports whether an argument belongs to other commands of the operation.
func (t Command) hides(name string) bool {
	common := name == "as" || name == "idempotency_key"
	return slices.Contains(t.Hide, name) || t.Only != nil && !common && !t.takes(name) && !slices.Contains(t.Only, name)
}

func (t Command) flagName(arg string) string {
	if name := t.Names[arg]; name != "" {
		return name
	}
	return strings.ReplaceAll(arg, "_", "-")
}

// positions checks how many words there are: the last argument takes all that
// remain if it is a list or free text.
func (t Command) positions() cobra.PositionalArgs {
	var required []string
	for i, name := range t.Takes {
		if !strings.HasSuffix(name, "?") {
			required = append(required, strings.Trim(strings.Fields(t.Use)[i+1], "[]…"))
		}
	}
	most := len(t.Takes)
	if most > 0 && takesRest(t.Use) {
		most = MaxWords
	}
	return Wants(most, required...)
}

// MaxWords bounds an argument that takes all remaining words.
const MaxWords = 1000

// Wants checks the words that follow a command: those that are required, by name, and at
// most so many.
func Wants(most int, required ...string) cobra.PositionalArgs {
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
func (t Command) input(a *App, cmd *cobra.Command, known map[string]argument, flags map[string]*value,
	words []string) (map[string]any, error) {
	in := map[string]any{}
	maps.Copy(in, t.Fixed)
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
	for i, take := range t.Takes {
		name := strings.TrimSuffix(take, "?")
		if i >= len(words) {
			break
		}
		last := i == len(t.Takes)-1 && takesRest(t.Use)
		switch {
		case known[name].kind == listKind:
			in[name] = words[i:]
		case known[name].kind == jsonKind && t.Prose != nil && isProse(words[i]):
			t.Prose(in, words[i])
		case known[name].kind == jsonKind:
			v, err := a.ReadJSON(words[i])
			if err != nil {
				return nil, t.orProse(err)
			}
			in[name] = v
		case last:
			in[name] = strings.Join(words[i:], " ")
		default:
			in[name] = words[i]
		}
	}
	if t.Fill != nil {
		t.Fill(in)
	}
	return in, nil
}

// orProse says in the refusal of a JSON argument that plain words do, too, where they do.
func (t Command) orProse(err error) error {
	if e, ok := errors.AsType[*schemas.Error](err); ok && t.Prose != nil && e.Expected == jsonForms {
		return e.Expecting("a sentence, or %s", jsonForms)
	}
	return err
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

// Group is a command that only holds others.
func Group(use, short string, commands ...*cobra.Command) *cobra.Command {
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

// Shown shows the output of an operation.
func Shown[Out any](show func(a *App, out Out)) func(*App, any) error {
	return func(a *App, answer any) error {
		out, err := OutputOf[Out](answer)
		if err == nil {
			show(a, out)
		}
		return err
	}
}

// Person runs f as the person at the terminal.
func (a *App) Person(ctx context.Context, f func(*Acting) error) error { return a.Act(ctx, "", f) }

// Follow is Act for what goes on until a signal ends it, which is no error.
func (a *App) Follow(ctx context.Context, as string, f func(*Acting) error) error {
	err := a.Act(ctx, as, f)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}
