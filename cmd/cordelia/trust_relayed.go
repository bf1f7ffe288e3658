package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

func trustRelayedCommand(a *app) *cobra.Command {
	relayed := &cobra.Command{
		Use:   "relayed",
		Short: "List what agents said you said, and confirm or reject it",
		Long: `List the verdicts that agents relayed as yours in the last 30 days and that you have
not decided on. Until you confirm them, all that one agent relays about another counts
half a verdict, and no tier follows from it.`,
		Example: "  cordelia trust relayed",
		Args:    wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				list, err := w.node.RelayedVerdicts(cmd.Context(), w.caller)
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

func decideRelayed(a *app, verb string, confirm bool, short string) *cobra.Command {
	return &cobra.Command{
		Use:     verb + " NUMBER...",
		Short:   short,
		Example: fmt.Sprintf("  cordelia trust relayed %s 12 13", verb),
		Args:    wants(100, "NUMBER"),
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
			return a.person(cmd.Context(),
				func(w *acting) error { return decideVerdicts(cmd.Context(), a, w, numbers, confirm) })
		},
	}
}

func decideVerdicts(ctx context.Context, a *app, w *acting, numbers []int64, confirm bool) error {
	out, err := w.node.DecideRelayed(ctx, w.caller, numbers, confirm)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(out)
	}
	did := "rejected; it counts against its relayer"
	if confirm {
		did = "confirmed"
	}
	for _, d := range out {
		a.say("%d %s. %s stands at %.3f: %s", d.Number, did, clean(d.Agent), d.Accuracy,
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
		return "its tier is now " + clean(tier)
	}
	return "tier " + clean(tier) + ", not moved"
}

func showRelayed(a *app, list []ops.RelayedVerdict) error {
	if a.asJSON {
		if list == nil {
			list = []ops.RelayedVerdict{}
		}
		return a.printJSON(list)
	}
	if len(list) == 0 {
		a.say("No agent relayed a verdict of yours that you have not decided on.")
		return nil
	}
	t := table{firm: 3, head: []string{"NUMBER", "RELAYED BY", "ABOUT", "VERDICT", "WEIGHT", "WHEN", "ITEM"}}
	for _, r := range list {
		item := short(r.Item)
		if r.Name != "" {
			item = r.Name
		}
		t.add(texts(strconv.FormatInt(r.Number, 10), clean(r.Relayer), clean(r.Agent), clean(string(r.Verdict)),
			fmt.Sprintf("%.3g", r.Weight),
			clock(r.At), clean(item))...)
	}
	a.print(t)
	a.note("cordelia trust relayed confirm NUMBER... if you said so, reject if not")
	return nil
}
