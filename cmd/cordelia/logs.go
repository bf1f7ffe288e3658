package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/access"
	"cordelia/cmd/cordelia/cli"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

func logsCommand(a *cli.App) *cobra.Command {
	var l logs
	var agent, since string
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what changed lately: when, who, what",
		Long: `Show what changed lately, oldest first, one line for each change: when, who, what was
called, on what; with --follow what is to come, too, until interrupted. The lines come
from the audit record, which cordelia audit tail shows whole. Who acted as an agent stands
behind it. Calls that were refused change nothing and are no entries of the record: they
are counted for a week by agent, minute, tool and reason, and stand at the end of their
minute, but for those that come while it follows. A call that several agents of a line do
not allow counts for each of them. What a rule of the operation itself refuses is told to
the caller alone. With --json, one change or refusal to a line; the time of a refusal is
when its minute began.`,
		Example: "  cordelia logs --agent researcher\n  cordelia logs --follow",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.filter.About = schemas.EntityID(agent)
			var err error
			if l.limit, err = cli.LimitOf(cmd, l.limit); err != nil {
				return err
			}
			if l.filter.Since, err = cli.ParseSince(since); err != nil {
				return err
			}
			return a.Follow(cmd.Context(), "", func(w *cli.Acting) error {
				l.Acting = w
				return l.run(cmd.Context())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&l.follow, "follow", "f", false, "go on with what is to come")
	f.StringVar(&agent, "agent", "", "only what this person or agent did, or what was done to it: a name or id")
	cli.LimitFlag(cmd, &l.limit, logLines)
	cli.SinceFlag(cmd, &since, "")
	return cmd
}

// logLines is how many lines logs begins with.
const logLines = 40

// logs shows audit entries as changes: those of one call are one line.
type logs struct {
	*cli.Acting
	filter events.AuditFilter
	limit  int
	follow bool
	begun  bool // something was shown
}

// logLine is a change as it is printed.
type logLine struct {
	Time    string   `json:"time"`
	Who     string   `json:"who"`
	Via     []string `json:"via,omitempty"` // who acted as it, nearest first
	Action  string   `json:"action"`
	Targets []string `json:"targets"`
	Moves   []move   `json:"moves,omitempty"`
	Refused bool     `json:"refused,omitempty"`
	Times   int      `json:"times,omitempty"` // refused in that minute
	Reason  string   `json:"reason,omitempty"`
}

// move is how one target came from one state into another.
type move struct {
	Of     string `json:"of"`
	From   string `json:"from"`
	To     string `json:"to"`
	On     string `json:"on"` // the trigger
	Reason string `json:"reason,omitempty"`
}

func (l *logs) run(ctx context.Context) error {
	refused, err := l.Node.Refusals(ctx, l.Caller.Principal, string(l.filter.About), l.filter.Since)
	if err != nil {
		return err
	}
	olderRefused := len(refused) > node.AuditPage // than those that were read
	if olderRefused {
		refused = refused[1:]
	}
	begin := cli.Beginning(l.limit, logLines, l.filter.Since)
	all := begin == cli.AllEntries
	entries := begin
	if !all {
		entries = node.AuditPage // a line may be of many
	}
	return l.AuditTail(ctx, l.filter, entries, l.follow, func(list []node.Tailed, older bool) error {
		var found []happening
		for _, call := range calls(list) {
			for len(refused) > 0 && minute(refused[0].Time) < minute(call[0].Time) {
				found, refused = append(found, happening{refused: refused[0]}), refused[1:]
			}
			found = append(found, happening{call: call})
		}
		if !all || len(list) < node.AuditPage { // what is to come is later than these
			for ; len(refused) > 0; refused = refused[1:] {
				found = append(found, happening{refused: refused[0]})
			}
		}
		if first := !all && !l.begun; first && len(found) > begin {
			found, older = found[len(found)-begin:], true
		}
		switch {
		case older:
			l.NoteOlder(begin, l.filter.Since)
		case olderRefused && !l.begun:
			l.Note("older refusals are left out: the newest %d lines of them are shown; --agent shows those of one agent",
				node.AuditPage)
		}
		l.begun = true
		for _, h := range found {
			if err := l.show(l.line(ctx, h)); err != nil {
				return err
			}
		}
		return nil
	})
}

// happening is what becomes a line: the entries of a call, or refusals.
type happening struct {
	call    []node.Tailed
	refused node.Refused
}

// calls puts the entries of each call together.
func calls(list []node.Tailed) (out [][]node.Tailed) {
	for _, e := range list {
		n := len(out)
		if n > 0 && out[n-1][0].Time == e.Time && out[n-1][0].Actor == e.Actor && out[n-1][0].Action == e.Action {
			out[n-1] = append(out[n-1], e)
		} else {
			out = append(out, []node.Tailed{e})
		}
	}
	return out
}

// line is what happened with the names of those in it.
func (l logs) line(ctx context.Context, h happening) logLine {
	if h.call == nil {
		return l.refusal(ctx, h.refused)
	}
	e := h.call[0]
	l.LearnName(ctx, e.Actor)
	line := logLine{Time: e.Time, Who: l.Who(e.Actor), Action: e.Action, Refused: e.Decision != "allowed"}
	var via []schemas.EntityID
	json.Unmarshal(e.Via, &via) //nolint:errcheck // what cannot be read stays empty
	for _, id := range via {
		l.LearnName(ctx, id)
		line.Via = append(line.Via, l.Who(id))
	}
	for _, e := range h.call {
		l.add(ctx, &line, e)
	}
	return line
}

// minute is the minute of a timestamp. Refusals are counted by it, and stand at its end.
func minute(stamp string) string { return stamp[:len("2006-01-02T15:04")] }

// refusal is a minute's refusals of one kind as a line.
func (l logs) refusal(ctx context.Context, r node.Refused) logLine {
	l.LearnName(ctx, r.Entity)
	return logLine{Time: r.Time, Who: l.Who(r.Entity), Action: r.Tool, Targets: []string{}, Refused: true,
		Times: r.Times, Reason: l.named(ctx, r.Reason)}
}

// why words the reason of a refusal; one of no fixed form stays as it is.
func why(reason, tool string) string {
	kind, of, _ := strings.Cut(reason, ":")
	who, more, _ := strings.Cut(of, ":")
	switch access.DenialReason(kind) {
	case access.DeniedNotActive:
		return who + " is " + more
	case access.DeniedExpired:
		return who + " has reached the end of its lifetime"
	case access.DeniedTool:
		return who + " does not hold the tool " + tool
	case access.DeniedGroup:
		if words := map[string]string{"absent": "there is no such group", "archived": "the group is archived",
			"emcon": "EMCON is on in the group"}[of]; words != "" {
			return words
		}
		fallthrough
	case access.DeniedLayer, access.DeniedVisibility:
		return who + " " + cmp.Or(more, "may not touch that "+kind)
	case access.DeniedUnattended:
		return who + " is not autonomous, and its parent gave no sign of life"
	case access.DeniedBrokenChain:
		return who + " has no person above it"
	}
	switch kind {
	case "matrix":
		return whyMatrix(who, more)
	case "human", "private":
		return "it is another's"
	}
	return reason
}

// whyMatrix words what the scoping matrix refused an agent of a type: of which tier it is, and for what cause.
func whyMatrix(agentType, of string) string {
	tier, cause, _ := strings.Cut(of, ":")
	switch access.Cause(cause) {
	case access.CauseRole:
		return "it is no member of the group, or only a viewer there"
	case access.CauseOther:
		return "it is the context of another"
	case access.CauseTier:
		return "its tier is " + tier
	case access.CauseType:
		return "its type is " + agentType
	case access.CauseGrant:
		return "its parent did not grant it that"
	}
	return fmt.Sprintf("not open to it there (%s, tier %s)", agentType, tier)
}

// add adds to a line what an entry was done to, and how that moved.
func (l logs) add(ctx context.Context, line *logLine, e node.Tailed) {
	var d struct {
		move
		Member, Left, Invited, Agent string
	}
	json.Unmarshal(e.Detail, &d) //nolint:errcheck // details differ by action; what is not there stays empty
	for _, target := range []string{e.Target, d.Member, d.Left, d.Invited, d.Agent} {
		if name := l.named(ctx, target); name != "" && !slices.Contains(line.Targets, name) &&
			(target == e.Target || target != string(e.Actor)) {
			line.Targets = append(line.Targets, name)
		}
	}
	if d.From != "" && d.To != "" && d.On != "" {
		d.Of = l.named(ctx, e.Target)
		line.Moves = append(line.Moves, d.move)
	}
}

// named is a target with the names of the agents in it, and in short for people.
func (l logs) named(ctx context.Context, target string) string {
	for _, id := range cli.TargetIDs.FindAllString(target, -1) {
		l.LearnName(ctx, schemas.EntityID(id))
	}
	if l.AsJSON {
		return cli.TargetIDs.ReplaceAllStringFunc(target, func(id string) string { return l.Who(schemas.EntityID(id)) })
	}
	return placed(l.App.Named(target))
}

// placed words the kind that a target begins with.
func placed(target string) string {
	kind, of, ok := strings.Cut(target, "/")
	words := map[string]string{"l1": "context of ", "item": "item ", "group": "group ", "work": "work ", "task": "task "}
	if word := words[kind]; ok && word != "" {
		return word + of
	}
	return target
}

func (l logs) show(line logLine) error {
	if l.AsJSON {
		return l.PrintLine(line)
	}
	colours := l.Colours()
	clock, who := cli.Clock(line.Time), line.Who
	if line.Times > 0 {
		clock = cli.ClockMinute(line.Time)
	}
	if len(line.Via) > 0 {
		who += " (by " + strings.Join(line.Via, ", ") + ")"
	}
	targets := slices.Clone(line.Targets)
	for i := range targets {
		for _, m := range line.Moves {
			if m.Of == line.Targets[i] {
				targets[i] += " (" + m.words() + ")"
			}
		}
	}
	text := fmt.Sprintf("%s  %s  %s  %s", cli.Paint(colours, cli.Dim, clock), cli.Clean(who),
		cli.Paint(colours, cli.Bold, cli.Clean(line.Action)), cli.Clean(strings.Join(targets, ", ")))
	switch {
	case line.Times > 0:
		text = strings.TrimRight(text, " ") + "  " + cli.Paint(colours, cli.Red, fmt.Sprintf("refused %s in this minute",
			schemas.Count(line.Times, "time", "times"))) + ": " + cli.Clean(why(line.Reason, line.Action))
	case line.Refused:
		text += "  " + cli.Paint(colours, cli.Red, "refused")
	}
	l.Say("%s", text)
	return nil
}

// words says from what to what a move led, and why.
func (m move) words() string {
	why := cmp.Or(schemas.Trigger(m.Reason).Words(), m.Reason, schemas.Trigger(m.On).Words(),
		strings.ReplaceAll(m.On, "_", " "))
	return fmt.Sprintf("%s → %s: %s", m.From, m.To, why)
}
