package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/live"
	"cordelia/schemas"
)

func proofCommand(a *cli.App) *cobra.Command {
	s := live.Setting{}
	var yes bool
	measure := &cobra.Command{
		Use:   "live",
		Short: "Measure with your own model what memory and trust are worth: its account pays",
		Long: `Have your own client mend six small repositories as cordelia run does: with memory
kept from one to the next and a verdict on what was learnt, with memory alone, and with
neither, each run within the same bound of tokens. Tests that the model does not see say
whether a repository is mended.

Everything lies in temporary folders, and your own home is not opened. The hidden tests
run what the model wrote, with your rights.`,
		Example: "  cordelia proof live --client claude-code\n" +
			"  cordelia proof live --client codex --repeats 1 --repositories sum,dedupe --yes",
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return measureLive(cmd.Context(), a, s, yes) },
	}
	f := measure.Flags()
	f.StringVar(&s.Client, "client", "", "who fills the roles: claude-code, codex, gemini-cli or an API of --settings")
	f.StringVar(&s.Model, "model", "", "model for all roles")
	f.StringVar(&s.Sandbox, "sandbox", "auto", "as of cordelia run")
	f.StringVar(&s.Settings, "settings", "", "folder of a config.json, prices.json and *.key to work with")
	f.StringSliceVar(&s.Only, "repositories", nil, "some of the repositories, separated by commas")
	f.IntVar(&s.Repeats, "repeats", 3, "times each repository is mended under each condition")
	f.Int64Var(&s.Tokens, "max-tokens", 200_000, "tokens that a run may use")
	f.DurationVar(&s.Patience, "max-time", 20*time.Minute, "time that a run may take")
	f.BoolVar(&yes, "yes", false, "do not ask whether it may cost that much")
	return cli.Group("proof", "Measure for yourself what this program is worth", measure)
}

func measureLive(ctx context.Context, a *cli.App, s live.Setting, yes bool) (err error) {
	if err := s.Check(); err != nil {
		return err
	}
	if !yes {
		if cli.Columns(a.In) == 0 {
			return schemas.Invalidf("there is no terminal to ask at whether %d runs of at most %d tokens are wanted",
				s.Runs(), s.Tokens).Try("say so with --yes")
		}
		if !confirmed(ctx, a, fmt.Sprintf("%d runs of at most %d tokens each; the account of %s pays. Go on? [y/N] ",
			s.Runs(), s.Tokens, cli.Clean(s.Client))) {
			return exitUnfinished
		}
	}
	if s.Binary, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	s.Say = func(line string) { a.Note("%s", line) }
	r, err := live.Measure(ctx, s)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(r)
	}
	t := cli.Table{Head: []string{"KEPT", "MENDED", "ACCEPTED", "ACCEPTED WRONGLY", "TOKENS A RUN", "SECONDS A RUN"}}
	for _, row := range r.Rows {
		t.Add(cli.Text(row.Kept), percent(row.Mended), percent(row.Accepted), percent(row.Wrongly), rangeCell(row.Tokens, ""),
			rangeCell(row.Seconds, ""))
	}
	a.Print(t)
	a.Say("\nMeans of %s, in brackets the least and the most.\nWhat these figures do not show:",
		schemas.Count(r.Repeats, "repeat", "repeats"))
	for _, line := range r.Caveats {
		a.Say("  %s", line)
	}
	return nil
}

func percent(s live.Spread) cli.Cell { return rangeCell(s, " %") }

func rangeCell(s live.Spread, unit string) cli.Cell {
	if s.Least == s.Most {
		return cli.Text(fmt.Sprintf("%.0f%s", s.Mean, unit))
	}
	return cli.Text(fmt.Sprintf("%.0f%s (%.0f–%.0f)", s.Mean, unit, s.Least, s.Most))
}
