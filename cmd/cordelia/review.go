package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/ops"
	"cordelia/review"
	"cordelia/schemas"
)

func reviewCommand(a *cli.App) *cobra.Command {
	cmd := cli.Group("review", "Decide what waits for you: memories agents brought back, held results",
		cli.Command{
			Op: "review_list", Use: "list", Short: "List what waits for your decision", Hide: []string{"ids"},
			Example: "cordelia review list --limit 50", Show: cli.Shown(showReviews), After: sayHeld,
		}.Command(a),
		cli.Command{
			Op: "review_list", Use: "show ID…", Short: "Show something that waits, whole, with the difference it makes",
			Takes: []string{"ids"},
			Only:  []string{}, Example: "cordelia review show 1cd21f84", Show: cli.Shown(showReviewed),
		}.Command(a),
		approveCommand(a),
		rejectCommand(a),
		cli.Command{
			Op: "reintegrate", Use: "return", Short: "Hand in what an autonomous agent brings back",
			Fixed: map[string]any{"action": "submit"},
			Only:  []string{"session_count", "chain_hash", "memories"}, Show: cli.Shown(showReturned),
			Long: `Hand in what an autonomous agent, whose key is on this machine, brings back: where
its chain stands, and what is new. --memories is JSON, the name of a file with it,
or - for stdin: [{"type", "data", "group", "subject", "key", "confidence", "source"}]`,
			Example: "cordelia review return --as rover --session-count 4 --chain-hash 9f86… --memories found.json",
		}.Command(a),
		cli.Command{
			Op: "reintegrate", Use: "withdraw STAGING",
			Short:   "Take back what an agent handed in, while it waits for a decision",
			Takes:   []string{"staging"},
			Fixed:   map[string]any{"action": "withdraw"},
			Only:    []string{},
			Example: "cordelia review withdraw staging-9f86… --as rover", Show: cli.Shown(showReturned),
		}.Command(a),
	)
	cmd.Long = `Decide what waits for you. At a terminal this shows one thing after the other and
asks; elsewhere it lists them. An approval is for the content that was shown: it
names its hash.`
	cmd.Example = "  cordelia review"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.Person(cmd.Context(), func(w *cli.Acting) error {
			if a.AsJSON || cli.Columns(a.In) == 0 {
				answer, err := w.Call(cmd.Context(), "review_list", map[string]any{})
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(answer)
				}
				err = cli.Shown(showReviews)(a, answer)
				sayHeld(cmd.Context(), w, answer)
				return err
			}
			err := askReviews(cmd.Context(), w)
			sayHeld(cmd.Context(), w, nil)
			return err
		})
	}
	return cmd
}

func approveCommand(a *cli.App) *cobra.Command {
	var as, reason string
	cmd := &cobra.Command{
		Use:     "approve ID HASH [ID HASH]…",
		Short:   "Approve what waits, as it was shown: all that is named, or nothing",
		Example: "  cordelia review approve 1cd21f84 9f86d081884c…",
		Args:    cli.Wants(cli.MaxWords, "ID", "HASH"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words)%2 != 0 {
				return schemas.Invalidf("an id lacks its hash").Expecting("%s",
					cmd.UseLine()).Try("run: cordelia review show ID")
			}
			var decisions []map[string]any
			for i := 0; i < len(words); i += 2 {
				if digits := len(words[i+1]); digits < hashDigits {
					return schemas.Invalidf("the hash %s has %s", words[i+1], schemas.Count(digits, "digit", "digits")).
						Expecting("all %d digits", hashDigits).Try("cordelia review show %s shows it", words[i])
				}
				decisions = append(decisions, decision(words[i], "approve", words[i+1], reason))
			}
			return decide(cmd.Context(), a, as, map[string]any{"decisions": decisions})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cli.AsFlag(cmd, &as)
	a.CompleteWords(cmd, []string{"review"})
	return cmd
}

func rejectCommand(a *cli.App) *cobra.Command {
	var as, reason, rest string
	cmd := &cobra.Command{
		Use:   "reject [ID [HASH]]…",
		Short: "Reject what waits: all that is named, or nothing",
		Long: `Reject what waits. Memories that were rejected are removed once all of their staging
group is decided. A held result is named with the hash that was shown.`,
		Example: "  cordelia review reject 1cd21f84\n  cordelia review reject 1cd21f84 9f86d081884c…\n" +
			"  cordelia review reject --rest staging-9f86…",
		Args: cli.Wants(cli.MaxWords),
		RunE: func(cmd *cobra.Command, words []string) error {
			in := map[string]any{}
			var decisions []map[string]any
			for i := 0; i < len(words); i++ {
				id, hash := words[i], ""
				if i+1 < len(words) && isHash(words[i+1]) {
					i++
					hash = words[i]
				}
				decisions = append(decisions, decision(id, "reject", hash, reason))
			}
			if len(decisions) > 0 {
				in["decisions"] = decisions
			}
			if rest != "" {
				in["reject_rest"] = rest
			}
			return decide(cmd.Context(), a, as, in)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	cmd.Flags().StringVar(&rest, "rest", "", "a staging group: reject what else waits there")
	cli.AsFlag(cmd, &as)
	a.CompleteWords(cmd, []string{"review"})
	return cmd
}

// hashDigits is how long the hash of what is shown is.
const hashDigits = 64

// isHash tells a hash, or a piece of one, from an id: a short one has 8 to 12 digits
// without a dash.
func isHash(word string) bool {
	digits := word != "" && strings.Trim(word, "0123456789abcdef") == ""
	return digits && (len(word) < schemas.ShortIDLength || len(word) > 12)
}

func decision(id, word, hash, reason string) map[string]any {
	d := map[string]any{"id": id, "decision": word}
	if hash != "" {
		d["hash"] = hash
	}
	if reason != "" {
		d["reason"] = reason
	}
	return d
}

func decide(ctx context.Context, a *cli.App, as string, in map[string]any) error {
	return a.Act(ctx, as, func(w *cli.Acting) error {
		answer, err := w.Call(ctx, "review_decide", in)
		if err != nil {
			return err
		}
		if a.AsJSON {
			return a.PrintJSON(answer)
		}
		return cli.Shown(showDecided)(a, answer)
	})
}

func showReturned(a *cli.App, v ops.ReintegrateOut) {
	a.Say("%s", a.Advice(v.Next))
	if v.Staging != "" { // it has none where all of it waits already
		a.Say("%s", cli.Clean(v.Staging))
	}
}

func showDecided(a *cli.App, v ops.ReviewDecideOut) {
	for _, d := range v.Decided {
		text := fmt.Sprintf("%s  %s", cli.Short(d.ID), cli.Clean(d.State))
		if d.Item != "" {
			text += "  as " + cli.Short(d.Item)
		}
		if len(d.With) > 0 {
			text += ", " + relation(d.Status, d.With)
		}
		a.Say("%s", text)
		if len(d.Note) > 0 {
			a.Note("%s", a.Advice(d.Note))
		}
	}
	for _, group := range v.Closed {
		a.Note("nothing of %s waits any more", cli.Clean(group))
	}
}

func showReviews(a *cli.App, v ops.ReviewListOut) {
	if len(v.Waiting) == 0 {
		a.Say("No review waits for you.")
		return
	}
	t := cli.Table{Firm: 1, Head: []string{"ID", "BY", "FOR", "BESIDE", "WHAT"}}
	for _, r := range v.Waiting {
		status := r.Status
		if status == memory.StatusNew {
			status = ""
		}
		whose := cmp.Or(string(r.Group), r.Asked)
		t.Add(cli.Texts(cli.Short(r.ID), cli.Clean(r.Author), cli.Clean(whose), relation(status, nil),
			cli.Clean(r.Name))...)
	}
	a.Print(t)
	for _, id := range v.LeftOut {
		a.Note("did not fit: cordelia review show %s", cli.Short(id))
	}
	if v.NextCursor != "" {
		a.Note("more with: --cursor %s", v.NextCursor)
	}
	a.Note("to decide: cordelia review at a terminal, or cordelia review show ID")
}

func showReviewed(a *cli.App, v ops.ReviewListOut) {
	for i, r := range v.Waiting {
		if i > 0 {
			a.Say("")
		}
		showReview(a, r)
	}
	for _, id := range v.LeftOut {
		a.Note("did not fit: cordelia review show %s", cli.Short(id))
	}
}

// showReview prints one thing that waits, with the difference it makes.
func showReview(a *cli.App, r review.Entry) {
	f := cli.Fields{}
	f.Add("id", cli.Short(r.ID))
	f.Styled("what", cli.Clean(r.Name), cli.Bold)
	by := cli.Clean(r.Author)
	if r.Tier != "" {
		by += ", tier " + cli.Clean(r.Tier)
	}
	f.Add(byWord(r.Kind), by)
	f.Add("for", cli.Clean(r.Group))
	if r.Asked != "" {
		f.Add("for", cli.Clean(r.Asked)+" until "+cli.Clock(r.Until)+", then "+cli.Clean(r.Then))
	}
	f.Add("supersedes", cli.Short(r.Replaces))
	f.Add("source", cli.Clean(r.Source))
	chain := cli.Clean(r.Divergence)
	if r.Sessions > 0 {
		chain += ", " + schemas.Count(int(r.Sessions), "session", "sessions") + " apart"
	}
	f.Add("chain", chain)
	if r.Status != "" {
		f.Add("beside", relation(r.Status, r.With))
	}
	f.Add("staging", cli.Clean(r.Staging))
	if r.State != schemas.ReviewPending {
		f.Add("state", cli.Clean(r.State))
	}
	if r.Work != nil {
		f.Add("note", cli.Clean(r.Work.Note))
	}
	f.Add("hash", cli.Clean(r.Hash))
	a.List(f)
	hides := false
	for _, l := range r.Diff {
		hides = hides || ops.Escape(l.Text) != l.Text
		a.Say("%s", cli.Paint(a.Colours(), diffStyle(l.Op), l.Op+" "+cli.Block(l.Text)))
	}
	if hides {
		a.Note(`it holds characters that do not show; they are written as \u{…}`)
	}
}

// byWord is the label of the author of what waits. Of a task's result that is its submitter; the
// agents that did it stand in its account.
func byWord(kind review.Kind) string {
	if kind == review.TaskResult {
		return "submitted by"
	}
	return "by"
}

func diffStyle(op string) cli.Style {
	switch op {
	case "+":
		return cli.Green
	case "-":
		return cli.Red
	}
	return cli.Plain
}

// sayHeld says beside a list of reviews that items which instruct agents wait for the person's release.
func sayHeld(ctx context.Context, w *cli.Acting, _ any) {
	if schemas.IsAgentID(string(w.Caller.Entity)) {
		return
	}
	if held, err := w.Node.Held(ctx, w.Caller); err == nil && len(held) > 0 {
		w.Note("%s for your release: cordelia memory release", schemas.Count(len(held), "item waits", "items wait"))
	}
}
