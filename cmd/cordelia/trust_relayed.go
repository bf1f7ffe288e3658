package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

func trustRelayedCommand(a *cli.App) *cobra.Command {
	relayed := &cobra.Command{
		Use:   "relayed",
		Short: "List what agents said you said, and confirm or reject it",
		Long: `List the verdicts that agents relayed as yours in the last 30 days and that you have
not decided on. Until you confirm them, all that one agent relays about another counts
half a verdict, and no tier follows from it.`,
		Example: "  cordelia trust relayed",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				list, err := w.Node.RelayedVerdicts(cmd.Context(), w.Caller)
				if err != nil {
					return err
				}
				return showRelayed(a, list)
			})
		},
	}
	relayed.AddCommand(
		decideRelayed(a, "confirm", true, "Confirm that you said so: it counts as your own verdict"),
		decideRelayed(a, "reject", false, "Deny that you said so: it is taken back, and counts against who relayed it"),
	)
	return relayed
}

func decideRelayed(a *cli.App, verb string, confirm bool, short string) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " NUMBER...",
		Short:   short,
		Example: fmt.Sprintf("  cordelia trust relayed %s 12 13", verb),
		Args:    cli.Wants(100, "NUMBER"),
		RunE: func(cmd *cobra.Command, words []string) error {
			numbers := make([]int64, len(words))
			for i, word := range words {
				n, err := strconv.ParseInt(word, 10, 64)
				if err != nil {
					return schemas.Invalidf("%q is no number",
						word).Expecting("numbers that the list shows").Try("run: cordelia trust relayed")
				}
				numbers[i] = n
			}
			return a.Person(cmd.Context(),
				func(w *cli.Acting) error { return decideVerdicts(cmd.Context(), a, w, numbers, confirm) })
		},
	}
}

func decideVerdicts(ctx context.Context, a *cli.App, w *cli.Acting, numbers []int64, confirm bool) error {
	out, err := w.Node.DecideRelayed(ctx, w.Caller, numbers, confirm)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(out)
	}
	did := "rejected; it counts against its relayer"
	if confirm {
		did = "confirmed"
	}
	for _, d := range out {
		a.Say("%d %s. %s stands at %.3f: %s", d.Number, did, cli.Clean(d.Agent), d.Accuracy,
			tierSaid(d.Tier, d.TierMoved))
	}
	return nil
}

// tierSaid is a tier, and whether it moved.
func tierSaid(tier schemas.Tier, moved bool) string {
	if moved && tier == schemas.Low {
		return "its tier is now low: what it writes to groups waits for you in cordelia review"
	}
	if moved {
		return "its tier is now " + cli.Clean(tier)
	}
	return "tier " + cli.Clean(tier) + ", not moved"
}

func showRelayed(a *cli.App, list []ops.RelayedVerdict) error {
	if a.AsJSON {
		if list == nil {
			list = []ops.RelayedVerdict{}
		}
		return a.PrintJSON(list)
	}
	if len(list) == 0 {
		a.Say("No agent relayed a verdict of yours that you have not decided on.")
		return nil
	}
	t := cli.Table{Firm: 3, Head: []string{"NUMBER", "RELAYED BY", "ABOUT", "VERDICT", "WEIGHT", "WHEN", "ITEM"}}
	for _, r := range list {
		item := cli.Short(r.Item)
		if r.Name != "" {
			item = r.Name
		}
		t.Add(cli.Texts(strconv.FormatInt(r.Number, 10), cli.Clean(r.Relayer), cli.Clean(r.Agent),
			cli.Clean(string(r.Verdict)),
			fmt.Sprintf("%.3g", r.Weight),
			cli.Clock(r.At), cli.Clean(item))...)
	}
	a.Print(t)
	a.Note("cordelia trust relayed confirm NUMBER... if you said so, reject if not")
	return nil
}
