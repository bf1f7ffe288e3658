package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

func trustCommand(a *cli.App) *cobra.Command {
	return cli.Group("trust", "How reliable agents proved, and what follows from it",
		cli.Command{
			Op: "trust_score", Use: "show AGENT", Short: "Show an agent's score, tier and trust per capability",
			Takes:   []string{"agent"},
			Example: "cordelia trust show researcher", Show: cli.Shown(showTrust), Learns: true,
		}.Command(a),
		cli.Command{
			Op: "trust_assess", Use: "assess [ID] [right|wrong]",
			Short: "Say that an item proved right or wrong, or how an agent works",
			Takes: []string{"id?", "verdict?"}, Show: cli.Shown(showAssessed),
			Long: `Say that an item an agent wrote proved right or wrong. Your word counts in full.
The agent's tier follows from your verdicts of the last 30 days and from predictions
that came due; what agents say of each other moves its score alone.

With --agent, --capability and --feedback say instead how well an agent works
with a capability: a seat, as executor, or a class of tools, as shell.`,
			Example: `cordelia trust assess 1cd21f84 wrong
  cordelia trust assess --agent researcher --capability shell --feedback bad`,
		}.Command(a),
		cli.Command{
			Op: "agent_lifecycle", Use: "quarantine AGENT",
			Short: "Hide everything an agent wrote, and what was derived from it", Takes: []string{"agent"},
			Fixed: map[string]any{"action": "quarantine"}, Show: cli.Shown(showQuarantined),
			Long: `Hide everything an agent wrote or writes, its copies, and what was derived from
that, in your memory, your agents' and your groups'. Searches leave it out; you
still read it by its id. No item is changed: lift shows exactly the same again.
The agent itself goes on; cordelia agent suspend stops it.`,
			Example: "cordelia trust quarantine researcher --reason 'invented sources'",
		}.Command(a),
		cli.Command{
			Op: "agent_lifecycle", Use: "lift AGENT", Short: "Show again what quarantine hid", Takes: []string{"agent"},
			Only:  []string{},
			Fixed: map[string]any{"action": "lift"}, Example: "cordelia trust lift researcher",
			Show: cli.Shown(showQuarantined),
		}.Command(a),
		trustRelayedCommand(a),
		trustVerifyCommand(a),
	)
}

func showTrust(a *cli.App, v ops.TrustScoreOut) {
	f := cli.Fields{}
	f.Add("agent", cli.Whom(v.Name, v.AgentID))
	f.Add("in the eyes of", a.Who(v.Observer))
	f.Styled("tier", cli.Clean(v.Tier), cli.Bold)
	f.Add("tier follows", cli.Clean(v.TierWhy))
	f.Add("accuracy", fmt.Sprintf("%.3f, with 95 %% between %.3f and %.3f; with 95 %% above %.3f", v.Accuracy,
		v.Interval95[0], v.Interval95[1], v.Q05))
	verdicts := "none"
	if v.Observed > 0 {
		verdicts = fmt.Sprintf("%d, %.0f %% right, %d confirmed", v.Observed, 100*v.AccuracyRaw, v.Confirmed)
	}
	f.Add("verdicts", verdicts)
	if v.Start != "" {
		f.Add("from", cli.Clock(v.Start))
		f.Add("to", cli.Clock(v.End))
	}
	f.Add("updated", cli.Clock(v.LastUpdated))
	if v.Open > 0 {
		f.Add("predictions", fmt.Sprintf("%d open", v.Open))
	}
	a.List(f)
	if len(v.Skills) > 0 {
		a.Say("")
		t := cli.Table{Firm: 1, Head: []string{"CAPABILITY", "TRUST", "WATCHED", "FROM"}}
		for _, s := range v.Skills {
			t.Add(cli.Texts(cli.Clean(s.Capability), fmt.Sprintf("%d/100", s.Hundredths), cli.Clean(s.Level),
				cli.Clean(s.From))...)
		}
		a.Print(t)
	}
	if v.Note != "" {
		a.Note("%s", cli.Clean(v.Note))
	}
}

func showAssessed(a *cli.App, v ops.TrustAssessOut) {
	switch {
	case v.Skill != nil:
		a.Say("%s stands at %d/100 in %s: %s", cli.Whom(v.Name, v.Agent), v.Skill.Hundredths,
			cli.Clean(v.Skill.Capability),
			cli.Clean(v.Skill.Level))
		return
	case v.Repeated:
		a.Say("You said so already; nothing was written.")
	case v.Counted && v.Weight > 0:
		a.Say("Counted with weight %.3g.", v.Weight)
	case v.Counted:
		a.Say("Counted; %s.", cli.Clean(v.Note))
	default:
		a.Say("Written down without weight: %s.", cli.Clean(v.Note))
	}
	if v.Tier != "" {
		a.Say("%s stands at %.3f: %s", cli.Whom(v.Name, v.Agent), v.Accuracy, tierSaid(v.Tier, v.TierMoved))
	}
}

func showQuarantined(a *cli.App, v ops.AgentMoveOut) {
	if v.Already {
		a.Say("%s: nothing changed; it was so already", cli.Clean(v.Name))
		return
	}
	a.Say("%s: %s %s", cli.Clean(v.Name), schemas.Count(v.Items, "item", "items"), cli.Clean(v.Memory))
}

func trustVerifyCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Replay all verdicts and compare every score, bit for bit",
		Long: `Hold the ledger of verdicts against the audit record, replay it, and compare
every score with what comes out, bit for bit. Exit code 1, and which row, if
something does not fit.`,
		Example: "  cordelia trust verify",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				v, err := w.Node.VerifyTrust(cmd.Context(), w.Caller.Principal)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(v)
				}
				a.Say("In order: scores %d, from ledger entries %d; capability scores %d, from reports on work %d.",
					v.Scores, v.Assessments, v.Skills, v.Feedback)
				return nil
			})
		},
	}
}
