package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/review"
	"cordelia/schemas"
)

func reviewCommand(a *app) *cobra.Command {
	cmd := group("review", "Decide what waits for you: memories agents brought back, held results",
		command{
			op: "review_list", use: "list", short: "List what waits for your decision", hide: []string{"ids"},
			example: "cordelia review list --limit 50", show: shown(showReviews),
		}.command(a),
		command{
			op: "review_list", use: "show ID…", short: "Show something that waits, whole, with the difference it makes",
			takes: []string{"ids"},
			hide:  []string{"limit", "cursor"}, example: "cordelia review show 1cd21f84", show: shown(showReviewed),
		}.command(a),
		approveCommand(a),
		rejectCommand(a),
		command{
			op: "reintegrate", use: "return", short: "Hand in what an autonomous agent brings back",
			fixed: map[string]any{"action": "submit"},
			hide:  []string{"nonce", "expires", "signature", "staging"}, show: shown(showReturned),
			long: `Hand in what an autonomous agent, whose key is on this machine, brings back: where
its chain stands, and what is new. --memories is JSON, the name of a file with it,
or - for stdin: [{"type", "data", "group", "subject", "key", "confidence", "source"}]`,
			example: "cordelia review return --as rover --session-count 4 --chain-hash 9f86… --memories found.json",
		}.command(a),
		command{
			op: "reintegrate", use: "withdraw STAGING", short: "Take back what an agent handed in and nobody decided",
			takes:   []string{"staging"},
			fixed:   map[string]any{"action": "withdraw"},
			hide:    []string{"session_count", "chain_hash", "memories", "nonce", "expires", "signature"},
			example: "cordelia review withdraw staging-9f86… --as rover", show: shown(showReturned),
		}.command(a),
	)
	cmd.Long = `Decide what waits for you. At a terminal this shows one thing after the other and
asks; elsewhere it lists them. An approval is for the content that was shown: it
names its hash.`
	cmd.Example = "  cordelia review"
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.person(cmd.Context(), func(w *acting) error {
			if a.asJSON || columns(a.in) == 0 {
				answer, err := w.call(cmd.Context(), "review_list", map[string]any{})
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(answer)
				}
				return shown(showReviews)(a, answer)
			}
			return askReviews(cmd.Context(), w)
		})
	}
	return cmd
}

func approveCommand(a *app) *cobra.Command {
	var as, reason string
	cmd := &cobra.Command{
		Use:     "approve ID HASH [ID HASH]…",
		Short:   "Approve what waits, as it was shown: all that is named, or nothing",
		Example: "  cordelia review approve 1cd21f84 9f86d081884c…",
		Args:    wants(maxWords, "ID", "HASH"),
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words)%2 != 0 {
				return schemas.Invalidf("an id lacks its hash").Expecting("%s",
					cmd.UseLine()).Try("run: cordelia review show ID")
			}
			var decisions []map[string]any
			for i := 0; i < len(words); i += 2 {
				decisions = append(decisions, decision(words[i], "approve", words[i+1], reason))
			}
			return decide(cmd.Context(), a, as, map[string]any{"decisions": decisions})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	asFlag(cmd, &as)
	a.completeWords(cmd, []string{"review"})
	return cmd
}

func rejectCommand(a *app) *cobra.Command {
	var as, reason, rest string
	cmd := &cobra.Command{
		Use:   "reject [ID [HASH]]…",
		Short: "Reject what waits: all that is named, or nothing",
		Long: `Reject what waits. Memories that were rejected are removed once all of their staging
group is decided. A held result is named with the hash that was shown.`,
		Example: "  cordelia review reject 1cd21f84\n  cordelia review reject 1cd21f84 9f86d081884c…\n" +
			"  cordelia review reject --rest staging-9f86…",
		Args: wants(maxWords),
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
	asFlag(cmd, &as)
	a.completeWords(cmd, []string{"review"})
	return cmd
}

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

func decide(ctx context.Context, a *app, as string, in map[string]any) error {
	return a.act(ctx, as, func(w *acting) error {
		answer, err := w.call(ctx, "review_decide", in)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(answer)
		}
		return shown(showDecided)(a, answer)
	})
}

func showReturned(a *app, v ops.ReintegrateOut) {
	a.say("%s", a.advice(v.Next))
	if len(v.Reviews) > 0 {
		a.say("%s", clean(v.Staging))
	}
}

func showDecided(a *app, v ops.ReviewDecideOut) {
	for _, d := range v.Decided {
		text := fmt.Sprintf("%s  %s", short(d.ID), clean(d.State))
		if d.Item != "" {
			text += "  as " + short(d.Item)
		}
		if len(d.With) > 0 {
			text += ", " + beside(d.Status, d.With)
		}
		a.say("%s", text)
		if len(d.Note) > 0 {
			a.note("%s", a.advice(d.Note))
		}
	}
	for _, group := range v.Closed {
		a.note("nothing of %s waits any more", a.named(string(group)))
	}
}

func showReviews(a *app, v ops.ReviewListOut) {
	if len(v.Waiting) == 0 {
		a.say("Nothing waits for you.")
		return
	}
	t := table{firm: 1, head: []string{"ID", "BY", "FOR", "BESIDE", "WHAT"}}
	for _, r := range v.Waiting {
		status := r.Status
		if status == memory.StatusNew {
			status = ""
		}
		t.add(texts(short(r.ID), clean(r.Author), clean(r.Group), beside(status, nil), clean(r.Name))...)
	}
	a.print(t)
	for _, id := range v.LeftOut {
		a.note("did not fit: cordelia review show %s", short(id))
	}
	if v.NextCursor != "" {
		a.note("more with: --cursor %s", v.NextCursor)
	}
	a.note("to decide: cordelia review at a terminal, or cordelia review show ID")
}

func showReviewed(a *app, v ops.ReviewListOut) {
	for i, r := range v.Waiting {
		if i > 0 {
			a.say("")
		}
		showReview(a, r)
	}
	for _, id := range v.LeftOut {
		a.note("did not fit: cordelia review show %s", short(id))
	}
}

// showReview prints one thing that waits, with the difference it makes.
func showReview(a *app, r review.Entry) {
	f := fields{}
	f.add("id", short(r.ID))
	f.styled("what", clean(r.Name), bold)
	by := clean(r.Author)
	if r.Tier != "" {
		by += ", tier " + clean(r.Tier)
	}
	f.add(byWord(r.Kind), by)
	f.add("for", clean(r.Group))
	f.add("supersedes", short(r.Replaces))
	f.add("source", clean(r.Source))
	chain := clean(r.Divergence)
	if r.Sessions > 0 {
		chain += ", " + schemas.Count(int(r.Sessions), "session", "sessions") + " apart"
	}
	f.add("chain", chain)
	if r.Status != "" {
		f.add("beside", beside(r.Status, r.With))
	}
	f.add("staging", clean(r.Staging))
	if r.State != schemas.ReviewPending {
		f.add("state", clean(r.State))
	}
	f.add("hash", clean(r.Hash))
	a.list(f)
	hides := false
	for _, l := range r.Diff {
		hides = hides || ops.Escape(l.Text) != l.Text
		a.say("%s", paint(a.colours(), diffStyle(l.Op), l.Op+" "+block(l.Text)))
	}
	if hides {
		a.note(`it holds characters that do not show; they are written as \u{…}`)
	}
}

// byWord names who is shown as the author of what waits: of a task's result who asked
// for it. Who did it stands in its account.
func byWord(kind review.Kind) string {
	if kind == review.TaskResult {
		return "submitted by"
	}
	return "by"
}

func diffStyle(op string) style {
	switch op {
	case "+":
		return green
	case "-":
		return red
	}
	return plain
}
