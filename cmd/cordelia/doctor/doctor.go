package doctor

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/setup"
	"cordelia/memory/embedding"
	"cordelia/schemas"
)

// Command is the command doctor.
func Command(a *cli.App) *cobra.Command {
	var fix, seats bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything, and say how to mend it",
		Long: `Check the home folder, the keys, the database with its audit record, the disk,
and what clients would start. Works when the database is damaged or missing, and
changes nothing, but for --fix: that makes Claude Code try the server again which it
left out since it could not start it once. With --seats each client and API that could
fill a role of cordelia run is asked for one word, at the expense of its account. Exit
code 0 without problems, else 1; a warning is none.`,
		Example: "  cordelia doctor\n  cordelia doctor --fix\n  cordelia doctor --seats",
		Args:    cli.Wants(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), a, fix, seats) },
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "make Claude Code try a server again that it left out")
	cmd.Flags().BoolVar(&seats, "seats", false, "ask each client and API that could fill a role of a run for one word")
	return cmd
}

// Verdict is how a check ended.
type Verdict string

const (
	Fine    Verdict = "ok"
	Warning Verdict = "warning"
	Problem Verdict = "problem"
	Skipped Verdict = "skipped" // what it needs is missing; another line says why
)

// Finding is a line of the doctor's report.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
	Fix     string  `json:"fix,omitempty"`
}

// examination collects findings.
type examination struct {
	app      *cli.App
	home     string
	fix      bool // mend what can be mended without a loss
	findings []Finding
	vectors  *embedding.State // nil = not known
}

func (x *examination) report(check string, v Verdict, fix, format string, args ...any) {
	x.findings = append(x.findings, Finding{check, v, fmt.Sprintf(format, args...), x.app.Here(fix)})
}

// refused reports an error that already says what is so and what to do.
func (x *examination) refused(check string, err error) {
	x.report(check, Problem, x.app.HintOf(err), "%s", schemas.MessageOf(err))
}

func (x *examination) count(v Verdict) (n int) {
	for _, f := range x.findings {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

func examine(ctx context.Context, a *cli.App, fix, seats bool) error {
	home, err := a.AbsoluteHome()
	if err != nil {
		return err
	}
	m, err := setup.Machine()
	if err != nil {
		return err
	}
	x := &examination{app: a, home: string(home), fix: fix}
	x.folder()
	x.modes(home)
	x.passwords(home)
	x.disk()
	held := x.keyFiles(home)
	x.leftovers(home)
	sound := x.database(ctx, home, held)
	for _, k := range held {
		k.file.Identity.Erase()
	}
	x.settings(ctx, home)
	x.writeLock(ctx, home)
	x.notifier(home)
	x.path()
	x.installed(ctx, home)
	x.shield()
	if seats {
		x.seats(ctx, home)
	}
	x.clients(ctx, m, sound && x.count(Problem) == 0)
	if err := x.print(); err != nil {
		return err
	}
	if n := x.count(Problem); n > 0 {
		return schemas.Errorf(schemas.CodeUnavailable, "%d of %d checks found a problem", n, len(x.findings)).
			Try("follow the fixes, then run again: cordelia doctor")
	}
	return nil
}

func (x *examination) print() error {
	if x.app.AsJSON {
		return x.app.PrintJSON(map[string]any{"ok": x.count(Problem) == 0, "home": x.home, "version": cli.Version(),
			"checks": x.findings})
	}
	w := tabwriter.NewWriter(x.app.Out, 0, 0, 2, ' ', 0)
	for _, f := range x.findings {
		for i, l := range strings.Split(f.Detail, "\n") {
			if i > 0 {
				fmt.Fprintf(w, "\t\t%s\n", l)
				continue
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", f.Verdict, f.Check, l)
		}
		if f.Fix != "" && f.Verdict != Fine {
			fmt.Fprintf(w, "\t\tfix: %s\n", strings.ReplaceAll(f.Fix, "\n", " "))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch warnings := schemas.Count(x.count(Warning), "warning", "warnings"); {
	case x.count(Problem) > 0: // said as the error that the command ends with
	case x.count(Warning) > 0:
		fmt.Fprintf(x.app.Out, "\nNo problem, %s.\n", warnings)
	default:
		fmt.Fprintln(x.app.Out, "\nEverything is in order.")
	}
	return nil
}
