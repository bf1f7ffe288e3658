package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/events"
	"cordelia/ops"
	"cordelia/schemas"
)

func agentCommand(a *app) *cobra.Command {
	move := func(action schemas.Trigger, short string) *cobra.Command {
		return command{
			op: "agent_lifecycle", use: string(action) + " AGENT", short: short, takes: []string{"agent"},
			fixed: map[string]any{"action": action}, show: shown(showMove),
			example: fmt.Sprintf("cordelia agent %s researcher", action),
		}.command(a)
	}
	return group("agent", "Register agents, see them, set their rights, end them",
		command{
			op: "agent_register", use: "register", short: "Register an agent under yourself",
			long: `Register an agent under yourself, or with --as under an agent of yours. Its key
is kept on this machine, and sealed to its parent in the database.`,
			example: `cordelia agent register --type swarm-worker --name researcher --group team`,
			names:   map[string]string{"agent_type": "type", "groups": "group", "bonus_groups": "bonus-group"},
			hide:    []string{"parent_entity_id"},
			fill:    nameTwice, show: shown(showRegistered), after: sayNamesakes,
		}.command(a),
		command{
			op: "agent_list", use: "list", short: "List the agents below you",
			example: "cordelia agent list --include-ended", hide: []string{"agent"}, show: shown(showAgents),
		}.command(a),
		command{
			op: "agent_list", use: "show AGENT", short: "Show one agent with its rights", takes: []string{"agent"},
			example: "cordelia agent show researcher",
			hide:    []string{"status", "include_ended", "limit", "cursor"}, show: shown(showAgent),
		}.command(a),
		command{
			op: "agent_capabilities", use: "capabilities AGENT", short: "Show or change an agent's rights",
			takes: []string{"agent"},
			long: `Show an agent's rights or, with flags, change them. A change takes effect at
once, for the agent and everyone below it. --tools takes names apart by commas:
+name adds a tool, -name takes one away, and plain names replace the list.`,
			example: `cordelia agent capabilities researcher --tools +task_submit,-memory_share
  cordelia agent capabilities researcher --capabilities '{"max_parallel_ops":2}'`,
			names: map[string]string{"groups": "group", "bonus_groups": "bonus-group"},
			fill:  splitTools, show: shown(showRights),
		}.command(a),
		command{
			op: "agent_deactivate", use: "deactivate AGENT", short: "End an agent; it can be reactivated for 7 days",
			takes:   []string{"agent"},
			example: "cordelia agent deactivate researcher --reason 'task done'", show: shown(showMove),
		}.command(a),
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

func agentTokenCommand(a *app) *cobra.Command {
	var header bool
	cmd := &cobra.Command{
		Use:   "token AGENT",
		Short: "Print a bearer token for HTTP, good for 15 minutes",
		Long: `Print a bearer token for cordelia serve, for an agent whose key is on this
machine. Whoever has it acts as the agent until it ends. With --header a client runs
this itself, as often as it needs a token, and keeps none: "headersHelper" of a server in
the settings of Claude Code.`,
		Example: `  cordelia agent token researcher | sed 's/^/Authorization: Bearer /' | curl -H @- …
  cordelia agent token researcher --header`,
		Args: wants(1, "AGENT"),
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			n, err := a.openUsed(cmd.Context())
			if err != nil {
				return err
			}
			defer closing(n, &err)
			file, err := n.OpenIdentity(cmd.Context(), words[0])
			if err != nil {
				return err
			}
			defer file.Identity.Erase()
			if _, err := n.Caller(cmd.Context(), file, terminalSession()); err != nil {
				return err // says it when the file holds an old key
			}
			issued, err := n.OwnToken(cmd.Context(), file)
			if err != nil {
				return err
			}
			until := events.Timestamp(issued.ExpiresAt)
			if header {
				return a.printLine(map[string]string{"Authorization": "Bearer " + issued.Token.Reveal()})
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"agent_id": file.EntityID, "token": issued.Token.Reveal(),
					"expires_at": until})
			}
			a.note("a credential follows, good until %s: keep it out of files, arguments and logs", clock(until))
			a.say("%s", issued.Token.Reveal())
			return nil
		},
	}
	cmd.Flags().BoolVar(&header, "header", false, "as JSON with the header of a request, for a client that asks for it")
	return cmd
}

func styleOf(s schemas.AgentStatus) style {
	switch s {
	case schemas.Active:
		return green
	case schemas.Suspended:
		return yellow
	case schemas.Deactivated, schemas.Removed:
		return dim
	}
	return plain
}

func showAgents(a *app, v ops.AgentListOut) {
	if len(v.Agents) == 0 {
		a.say("No agents below %s; --include-ended lists those that have ended. Register one: cordelia agent "+
			"register --type swarm-worker --name worker%s",
			cmp.Or(clean(a.as), "you"), a.asFlag())
		return
	}
	t := table{firm: 5, head: []string{"NAME", "ID", "TYPE", "STATUS", "EXPIRES", "LAST SEEN", "DISPLAY NAME",
		"REASON"}}
	below(v.Agents, func(g ops.AgentRow, depth int) {
		t.add(cell{text: strings.Repeat("  ", depth) + clean(g.Name)}, cell{short(g.AgentID), dim},
			cell{text: clean(g.Type)},
			cell{string(g.Status), styleOf(g.Status)}, cell{text: clock(g.ExpiresAt)},
			cell{text: clock(g.LastSeenAt)}, cell{text: clean(g.DisplayName)}, cell{text: clean(g.Reason)})
	})
	a.print(t)
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
func more(a *app, cursor string) {
	if cursor != "" {
		a.note("there is more: repeat with --cursor %s", cursor)
	}
}

func showAgent(a *app, v ops.AgentListOut) {
	for _, g := range v.Agents {
		f := fields{}
		f.add("name", clean(g.Name))
		f.add("display name", clean(g.DisplayName))
		f.add("id", clean(g.AgentID))
		f.add("type", clean(g.Type))
		f.styled("status", string(g.Status), styleOf(g.Status))
		f.add("reason", clean(g.Reason))
		f.add("parent", a.who(g.Parent))
		f.add("created", clock(g.CreatedAt))
		f.add("expires", clock(g.ExpiresAt))
		f.add("last seen", clock(g.LastSeenAt))
		f.rights(g.Capabilities, g.Grants)
		if raw, err := base64.StdEncoding.DecodeString(g.PublicKey); err == nil && len(raw) > 0 {
			f.add("public key", g.PublicKey)
		}
		a.list(f)
	}
}

func showRights(a *app, v ops.AgentCapabilitiesOut) {
	f := fields{}
	f.add("name", clean(v.Name))
	f.add("id", short(v.AgentID))
	f.add("expires", clock(v.ExpiresAt))
	f.rights(&v.Capabilities, &v.Grants)
	a.list(f)
	if v.Changed {
		a.note("changed, at once also for what %s has under way", clean(v.Name))
	}
}

func showRegistered(a *app, v ops.AgentRegisterOut) {
	f := fields{}
	f.add("name", clean(v.Name))
	f.add("id", short(v.AgentID))
	f.styled("status", string(v.Status), styleOf(v.Status))
	f.add("expires", clock(v.ExpiresAt))
	f.rights(&v.Capabilities, nil)
	f.add("next", a.advice(v.Next))
	a.list(f)
}

func showMove(a *app, v ops.AgentMoveOut) {
	a.say("%s: %s → %s", clean(v.Name), v.OldStatus,
		paint(a.colours(), styleOf(v.NewStatus), string(v.NewStatus)))
	if v.GraceUntil != "" {
		a.say("until %s it comes back with: cordelia agent reactivate %s", clock(v.GraceUntil), clean(v.Name))
	}
	if v.ArchiveID != "" {
		a.say("its context is kept as %s", clean(v.ArchiveID))
	}
}
