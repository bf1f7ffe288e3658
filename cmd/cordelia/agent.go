package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/events"
	"cordelia/ops"
	"cordelia/schemas"
)

func agentCommand(a *cli.App) *cobra.Command {
	move := func(action schemas.Trigger, short string) *cobra.Command {
		return cli.Command{
			Op: "agent_lifecycle", Use: string(action) + " AGENT", Short: short, Takes: []string{"agent"},
			Fixed: map[string]any{"action": action}, Show: cli.Shown(showMove),
			Example: fmt.Sprintf("cordelia agent %s researcher", action),
		}.Command(a)
	}
	return cli.Group("agent", "Register agents, see them, set their rights, end them",
		cli.Command{
			Op: "agent_register", Use: "register", Short: "Register an agent under yourself",
			Long: `Register an agent under yourself, or with --as under an agent of yours. Its key
is kept on this machine, and sealed to its parent in the database.`,
			Example: `cordelia agent register --type swarm-worker --name researcher --group team`,
			Names:   map[string]string{"agent_type": "type", "groups": "group", "bonus_groups": "bonus-group"},
			Hide:    []string{"parent_entity_id"},
			Fill:    nameTwice, Show: cli.Shown(showRegistered), After: sayNamesakes,
		}.Command(a),
		cli.Command{
			Op: "agent_list", Use: "list", Short: "List the agents below you",
			Example: "cordelia agent list --include-ended", Hide: []string{"agent"}, Show: cli.Shown(showAgents),
		}.Command(a),
		cli.Command{
			Op: "agent_list", Use: "show AGENT", Short: "Show one agent with its rights", Takes: []string{"agent"},
			Example: "cordelia agent show researcher",
			Only:    []string{}, Show: cli.Shown(showAgent), After: sayRefused,
		}.Command(a),
		cli.Command{
			Op: "agent_capabilities", Use: "capabilities AGENT", Short: "Show or change an agent's rights",
			Takes: []string{"agent"},
			Long: `Show an agent's rights or, with flags, change them. A change takes effect at
once, for the agent and all agents below it. --tools takes names apart by commas:
+name adds a tool, -name takes one away, and plain names replace the list.`,
			Example: `cordelia agent capabilities researcher --tools +task_submit,-memory_share
  cordelia agent capabilities researcher --capabilities '{"max_parallel_ops":2}'`,
			Names: map[string]string{"groups": "group", "bonus_groups": "bonus-group"},
			Fill:  splitTools, Show: cli.Shown(showRights),
		}.Command(a),
		cli.Command{
			Op: "agent_deactivate", Use: "deactivate AGENT", Short: "End an agent; it can be reactivated for 7 days",
			Takes:   []string{"agent"},
			Example: "cordelia agent deactivate researcher --reason 'task done'", Show: cli.Shown(showMove),
		}.Command(a),
		move(schemas.Activate, "Activate a registered agent before its first call"),
		move(schemas.Suspend, "Stop an agent and all below it"),
		move(schemas.Resume, "Lift a suspension"),
		move(schemas.Reactivate, "Bring a deactivated agent back"),
		agentTokenCommand(a),
		agentRecordCommand(a),
		agentAdoptCommand(a),
	)
}

// splitTools takes tools apart that were given in one word, by commas.
func splitTools(in map[string]any) {
	if words, ok := in["tools"].([]string); ok && len(words) > 0 {
		in["tools"] = strings.Split(strings.Join(words, ","), ",")
	}
}

// nameTwice lets a short name, or the type, do for the display name.
func nameTwice(in map[string]any) {
	if _, ok := in["display_name"]; ok {
		return
	}
	for _, from := range []string{"name", "agent_type"} {
		if in[from] != nil {
			in["display_name"] = in[from]
			return
		}
	}
}

func agentTokenCommand(a *cli.App) *cobra.Command {
	var header bool
	cmd := &cobra.Command{
		Use:   "token AGENT",
		Short: "Print a bearer token for HTTP, good for 15 minutes",
		Long: `Print a bearer token for cordelia serve, for an agent whose key is on this
machine. A client that has it acts as the agent until it ends. With --header a client runs
this itself, as often as it needs a token, and keeps none: "headersHelper" of a server in
the settings of Claude Code.`,
		Example: `  cordelia agent token researcher | sed 's/^/Authorization: Bearer /' | curl -H @- …
  cordelia agent token researcher --header`,
		Args: cli.Wants(1, "AGENT"),
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			n, err := a.OpenFor(cmd.Context(), words[0])
			if err != nil {
				return err
			}
			defer cli.Closing(n, &err)
			file, err := n.OpenIdentity(cmd.Context(), words[0])
			if err != nil {
				return err
			}
			defer file.Identity.Erase()
			if _, err := n.Caller(cmd.Context(), file, cli.TerminalSession()); err != nil {
				return err // says it when the file holds an old key
			}
			issued, err := n.OwnToken(cmd.Context(), file)
			if err != nil {
				return err
			}
			until := events.Timestamp(issued.ExpiresAt)
			if header {
				return a.PrintLine(map[string]string{"Authorization": "Bearer " + issued.Token.Reveal()})
			}
			if a.AsJSON {
				return a.PrintJSON(map[string]any{"agent_id": file.EntityID, "token": issued.Token.Reveal(),
					"expires_at": until})
			}
			a.Note("a credential follows, good until %s: keep it out of files, arguments and logs", cli.Clock(until))
			a.Say("%s", issued.Token.Reveal())
			return nil
		},
	}
	cmd.Flags().BoolVar(&header, "header", false, "as JSON with the header of a request, for a client that asks for it")
	return cmd
}

func styleOf(s schemas.AgentStatus) cli.Style {
	switch s {
	case schemas.Active:
		return cli.Green
	case schemas.Suspended:
		return cli.Yellow
	case schemas.Deactivated, schemas.Removed:
		return cli.Dim
	}
	return cli.Plain
}

func showAgents(a *cli.App, v ops.AgentListOut) {
	if len(v.Agents) == 0 {
		if v.Next != nil {
			a.Say("%s", a.Advice(v.Next))
			return
		}
		a.Say("No agents below %s; --include-ended lists those that have ended. Register one: cordelia agent "+
			"register --type swarm-worker --name worker%s",
			cmp.Or(cli.Clean(a.As), "you"), a.AsFlag())
		return
	}
	t := cli.Table{Firm: 5, Head: []string{"NAME", "ID", "TYPE", "STATUS", "EXPIRES", "LAST SEEN", "DISPLAY NAME",
		"REASON"}}
	below(v.Agents, func(g ops.AgentRow, depth int) {
		t.Add(cli.Text(strings.Repeat("  ", depth)+cli.Clean(g.Name)), cli.Styled(cli.Short(g.AgentID), cli.Dim),
			cli.Text(cli.Clean(g.Type)),
			cli.Styled(string(g.Status), styleOf(g.Status)), cli.Text(cli.Clock(g.ExpiresAt)),
			cli.Text(cli.Clock(g.LastSeenAt)), cli.Text(cli.Clean(g.DisplayName)), cli.Text(cli.Clean(g.Reason)))
	})
	a.Print(t)
	more(a, v.Cursor)
}

// below visits agents as the tree they are, children under their parents.
func below(list []ops.AgentRow, visit func(g ops.AgentRow, depth int)) {
	here := map[schemas.EntityID]bool{}
	for _, g := range list {
		here[g.AgentID] = true
	}
	children := map[schemas.EntityID][]ops.AgentRow{}
	for _, g := range list {
		parent := g.Parent
		if !here[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], g)
	}
	var walk func(parent schemas.EntityID, depth int)
	walk = func(parent schemas.EntityID, depth int) {
		for _, g := range children[parent] {
			visit(g, depth)
			walk(g.AgentID, depth+1)
		}
	}
	walk("", 0)
}

// more says how to get the next page.
func more(a *cli.App, cursor string) {
	if cursor != "" {
		a.Note("there is more: repeat with --cursor %s", cursor)
	}
}

func showAgent(a *cli.App, v ops.AgentListOut) {
	for _, g := range v.Agents {
		f := cli.Fields{}
		f.Add("name", cli.Clean(g.Name))
		f.Add("display name", cli.Clean(g.DisplayName))
		f.Add("id", cli.Clean(g.AgentID))
		f.Add("type", cli.Clean(g.Type))
		f.Styled("status", string(g.Status), styleOf(g.Status))
		f.Add("reason", cli.Clean(g.Reason))
		f.Add("parent", a.Who(g.Parent))
		f.Add("created", cli.Clock(g.CreatedAt))
		f.Add("expires", cli.Clock(g.ExpiresAt))
		f.Add("last seen", cli.Clock(g.LastSeenAt))
		f.Rights(g.Capabilities, g.Grants)
		f.Add("no member of", cli.Clean(strings.Join(g.NotMember, ", ")))
		if raw, err := base64.StdEncoding.DecodeString(g.PublicKey); err == nil && len(raw) > 0 {
			f.Add("public key", g.PublicKey)
		}
		a.List(f)
	}
}

// sayRefused says beside an agent that calls of it were refused lately, to the person alone.
func sayRefused(ctx context.Context, w *cli.Acting, answer any) {
	v, ok := answer.(ops.AgentListOut)
	if !ok || w.As != "" || len(v.Agents) != 1 || schemas.IsAgentID(string(w.Caller.Entity)) {
		return
	}
	id := v.Agents[0].AgentID
	list, err := w.Node.Refusals(ctx, w.Caller.Principal, string(id), 0)
	if err != nil || len(list) == 0 {
		return
	}
	w.Note("calls of it were refused in the last 7 days, the last time at %s: cordelia logs --agent %s",
		strings.TrimSpace(cli.ClockMinute(list[len(list)-1].Time)), w.Node.RefOf(ctx, id))
}

func showRights(a *cli.App, v ops.AgentCapabilitiesOut) {
	f := cli.Fields{}
	f.Add("name", cli.Clean(v.Name))
	f.Add("id", cli.Short(v.AgentID))
	f.Add("expires", cli.Clock(v.ExpiresAt))
	f.Rights(&v.Capabilities, &v.Grants)
	f.Add("no member of", cli.Clean(strings.Join(v.NotMember, ", ")))
	a.List(f)
	if len(v.Dropped) > 0 {
		a.Note("taken away, as the groups given replace those before: %s", cli.Clean(strings.Join(v.Dropped, ", ")))
	}
	if v.Changed {
		a.Note("changed, at once also for what %s has under way", cli.Clean(v.Name))
	}
}

func showRegistered(a *cli.App, v ops.AgentRegisterOut) {
	f := cli.Fields{}
	f.Add("name", cli.Clean(v.Name))
	f.Add("id", cli.Short(v.AgentID))
	f.Styled("status", string(v.Status), styleOf(v.Status))
	f.Add("expires", cli.Clock(v.ExpiresAt))
	f.Rights(&v.Capabilities, nil)
	f.Add("note", a.Advice(v.Note))
	f.Add("next", a.Advice(v.Next))
	a.List(f)
}

func showMove(a *cli.App, v ops.AgentMoveOut) {
	a.Say("%s: %s → %s", cli.Clean(v.Name), v.OldStatus,
		cli.Paint(a.Colours(), styleOf(v.NewStatus), string(v.NewStatus)))
	if v.GraceUntil != "" {
		a.Say("until %s %s", cli.Clock(v.GraceUntil), cli.Clean(a.Hint(v.Next)))
	}
	if v.ArchiveID != "" {
		a.Say("its context is kept as %s", cli.Clean(v.ArchiveID))
	}
}
