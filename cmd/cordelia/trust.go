package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

func trustCommand(a *app) *cobra.Command {
	return group("trust", "How reliable agents proved, and what follows from it",
		command{
			op: "trust_score", use: "show AGENT", short: "Show an agent's score, tier and trust per capability",
			takes:   []string{"agent"},
			example: "cordelia trust show researcher", show: shown(showTrust), learns: true,
		}.command(a),
		command{
			op: "trust_assess", use: "assess [ID] [right|wrong]",
			short: "Say that an item proved right or wrong, or how an agent works",
			takes: []string{"id?", "verdict?"}, show: shown(showAssessed),
			long: `Say that an item an agent wrote proved right or wrong. Your word counts in full.
The agent's tier follows from your verdicts of the last 30 days and from predictions
that came due; what agents say of each other moves its score alone.

With --agent, --capability and --feedback say instead how well an agent works
with a capability: a seat, as executor, or a class of tools, as shell.`,
			example: `cordelia trust assess 1cd21f84 wrong
  cordelia trust assess --agent researcher --capability shell --feedback bad`,
		}.command(a),
		command{
			op: "agent_lifecycle", use: "quarantine AGENT",
			short: "Hide everything an agent wrote, and what was derived from it", takes: []string{"agent"},
			fixed: map[string]any{"action": "quarantine"}, show: shown(showQuarantined),
			long: `Hide everything an agent wrote or writes, its copies, and what anyone derived from
that, in your memory, your agents' and your groups'. Searches leave it out; you
still read it by its id. No item is changed: lift shows exactly the same again.
The agent itself goes on; cordelia agent suspend stops it.`,
			example: "cordelia trust quarantine researcher --reason 'invented sources'",
		}.command(a),
		command{
			op: "agent_lifecycle", use: "lift AGENT", short: "Show again what quarantine hid", takes: []string{"agent"},
			hide:  []string{"reason"},
			fixed: map[string]any{"action": "lift"}, example: "cordelia trust lift researcher",
			show: shown(showQuarantined),
		}.command(a),
		trustRelayedCommand(a),
		trustVerifyCommand(a),
	)
}

func showTrust(a *app, v ops.TrustScoreOut) {
	f := fields{}
	f.add("agent", whom(v.Name, v.AgentID))
	f.add("in the eyes of", a.who(v.Observer))
	f.styled("tier", clean(v.Tier), bold)
	f.add("tier follows", clean(v.TierWhy))
	f.add("accuracy", fmt.Sprintf("%.3f, with 95 %% between %.3f and %.3f; with 95 %% above %.3f", v.Accuracy,
		v.Interval95[0], v.Interval95[1], v.Q05))
	verdicts := "none"
	if v.Observed > 0 {
		verdicts = fmt.Sprintf("%d, %.0f %% right, %d confirmed", v.Observed, 100*v.AccuracyRaw, v.Confirmed)
	}
	f.add("verdicts", verdicts)
	if v.Start != "" {
		f.add("from", clock(v.Start))
		f.add("to", clock(v.End))
	}
	f.add("updated", clock(v.LastUpdated))
	if v.Open > 0 {
		f.add("predictions", fmt.Sprintf("%d open", v.Open))
	}
	a.list(f)
	if len(v.Skills) > 0 {
		a.say("")
		t := table{firm: 1, head: []string{"CAPABILITY", "TRUST", "WATCHED", "FROM"}}
		for _, s := range v.Skills {
			t.add(texts(clean(s.Capability), fmt.Sprintf("%d/100", s.Hundredths), clean(s.Level), clean(s.From))...)
		}
		a.print(t)
	}
	if v.Note != "" {
		a.note("%s", clean(v.Note))
	}
}

func showAssessed(a *app, v ops.TrustAssessOut) {
	switch {
	case v.Skill != nil:
		a.say("%s stands at %d/100 in %s: %s", whom(v.Name, v.Agent), v.Skill.Hundredths, clean(v.Skill.Capability),
			clean(v.Skill.Level))
		return
	case v.Repeated:
		a.say("You said so already; nothing was written.")
	case v.Counted && v.Weight > 0:
		a.say("Counted with weight %.3g.", v.Weight)
	case v.Counted:
		a.say("Counted; %s.", clean(v.Note))
	default:
		a.say("Written down without weight: %s.", clean(v.Note))
	}
	if v.Tier != "" {
		a.say("%s stands at %.3f: %s", whom(v.Name, v.Agent), v.Accuracy, tierSaid(v.Tier, v.TierMoved))
	}
}

func showQuarantined(a *app, v ops.AgentMoveOut) {
	if v.Already {
		a.say("%s: nothing changed; it was so already", clean(v.Name))
		return
	}
	a.say("%s: %s %s", clean(v.Name), schemas.Count(v.Items, "item", "items"), clean(v.Memory))
}

func trustVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Replay all verdicts and compare every score, bit for bit",
		Long: `Hold the ledger of verdicts against the audit record, replay it, and compare
every score with what comes out, bit for bit. Exit code 1, and which row, if
something does not fit.`,
		Example: "  cordelia trust verify",
		Args:    wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				v, err := w.node.VerifyTrust(cmd.Context(), w.caller.Principal)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(v)
				}
				a.say("In order: scores %d, from ledger entries %d; capability scores %d, from reports on work %d.",
					v.Scores, v.Assessments, v.Skills, v.Feedback)
				return nil
			})
		},
	}
}
