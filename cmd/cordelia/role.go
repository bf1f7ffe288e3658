package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/roles"
	"cordelia/schemas"
)

func roleCommand(a *app) *cobra.Command {
	return group("role", "Workspaces whose agents have a charter: events become their work",
		roleApplyCommand(a),
		roleExportCommand(a),
		command{
			op: "role_list", use: "list", short: "List the roles of your workspaces", hide: []string{"role"},
			example: "cordelia role list", show: shown(showRoles),
		}.command(a),
		command{
			op: "role_list", use: "show ROLE", short: "Show a role: charter, goals, trust, what it decided last",
			takes: []string{"role"}, example: "cordelia role show triager", show: shown(showRole),
		}.command(a),
		command{
			op: "role_event", use: "event TYPE", short: "Send an event to the roles of a workspace", takes: []string{"type"},
			long: `Send an event to the roles of a workspace. The role that owns its domain decides:
it delegates, escalates, forwards or ignores, and says why. --payload is JSON, the
name of a file with it, or - for stdin. --delivery makes a repetition harmless.`,
			example: `cordelia role event lead.created --domain revenue --payload '{"territory": "APAC"}'`,
			show:    shown(showTaken),
		}.command(a),
		roleExplainCommand(a),
		command{
			op: "role_spawn", use: "spawn TEMPLATE", short: "Make a child of a role from a template",
			takes: []string{"template"}, example: `cordelia role spawn bdr --parent cro --params '{"territory": "APAC"}'`,
			show: shown(showSpawned),
		}.command(a),
		command{
			op: "role_message", use: "message [WORDS…]", short: "Send a message to a role; without words, list yours",
			takes: []string{"content?"}, example: `cordelia role message --to cro --request "What blocks the pipeline?"`,
			show: shown(showMessages),
		}.command(a),
		roleMoveCommand(a, "test", schemas.RoleTry, "Let a role decide without anything following from it"),
		roleMoveCommand(a, "activate", schemas.Activate, "Let a role act"),
		roleMoveCommand(a, "suspend", schemas.Suspend, "Let a role rest: it gets no events, its memory stays"),
		roleMoveCommand(a, "resume", schemas.Resume, "Let a suspended role act again"),
		roleMoveCommand(a, "terminate", schemas.RoleTerminate, "End a role and those below it, with its memory policy"),
		roleTestedCommand(a),
		command{
			op: "role_draft", use: "drafts", short: "List the templates that roles propose; approve decides over one",
			hide: []string{"name", "template", "intent", "reasoning"}, example: "cordelia role drafts", show: shown(showDrafts),
		}.command(a),
		roleApproveCommand(a),
	)
}

func roleApplyCommand(a *app) *cobra.Command {
	var trial bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make a workspace what its file says; --dry-run shows the plan alone",
		Long: `Make a workspace what its YAML file says: its operators, roles, templates, policy and
webhooks. What changes is shown first; it happens all at once or not at all, and a
second time nothing changes. A role that the file names no more is suspended. A soul
may name a .md file beside the YAML. FILE - reads standard input.`,
		Example: "  cordelia role apply team.yaml --dry-run\n  cordelia role apply team.yaml",
		Args:    wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			w, err := readWorkspace(a, words[0])
			if err != nil {
				return err
			}
			return a.person(cmd.Context(), func(who *acting) error {
				p, err := who.node.ApplyWorkspace(cmd.Context(), who.caller, w, trial)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(p)
				}
				showPlan(a, p)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&trial, "dry-run", false, "show what would change, and change nothing")
	return cmd
}

// readWorkspace reads a workspace's file, with the souls beside it.
func readWorkspace(a *app, name string) (w schemas.Workspace, err error) {
	var raw []byte
	if name == "-" {
		raw, err = io.ReadAll(a.in)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return w, schemas.Invalidf("the file %s cannot be read", name).Expecting("a YAML file of a workspace").
			Try("name one, or - for standard input").Because(err)
	}
	if w, err = roles.Parse(raw); err != nil {
		return w, err
	}
	dir := filepath.Dir(name)
	return w, roles.Souls(&w, func(soul string) ([]byte, error) {
		if !filepath.IsLocal(soul) {
			return nil, fmt.Errorf("%s lies outside %s", soul, dir)
		}
		return os.ReadFile(filepath.Join(dir, soul))
	})
}

func showPlan(a *app, p roles.Plan) {
	if len(p.Changes) == 0 {
		a.say("%s is as the file says; nothing changes", clean(p.Workspace))
	} else {
		t := table{head: []string{"DOES", "WHAT", "ID", "WHY"}, firm: 1}
		for _, c := range p.Changes {
			t.add(texts(c.Does, c.What, clean(c.ID), clean(c.Why))...)
		}
		a.print(t)
	}
	for _, c := range p.Clamped {
		a.say("clamped: %s", clean(c))
	}
	for _, n := range p.Notes {
		a.note("%s", clean(n))
	}
	for _, k := range p.Keys {
		a.say("secret of %s", clean(k))
	}
	if !p.Applied {
		a.note("nothing was changed; run it again without --dry-run")
	}
}

func roleExportCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "export [WORKSPACE]",
		Short:   "Print a workspace as the file that makes it",
		Example: "  cordelia role export >team.yaml",
		Args:    wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				file, err := w.node.ExportWorkspace(cmd.Context(), w.caller, strings.Join(words, ""))
				if err == nil {
					_, err = a.out.Write(file)
				}
				return err
			})
		},
	}
}

func roleExplainCommand(a *app) *cobra.Command {
	var workspace, role string
	var all bool
	cmd := &cobra.Command{
		Use:   "explain EVENT",
		Short: "Show what roles would decide over an event, step by step, and do nothing",
		Long: `Show what the roles on an event's way would decide, with each step that led there, or
with --all what every role of the workspace would, for itself. Nothing is done.
EVENT is JSON, the name of a file with it, or - for stdin.`,
		Example: `  cordelia role explain '{"type": "lead.created", "domain": "revenue"}'
  cordelia role explain event.json --all`,
		Args: wants(1, "EVENT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			raw, err := a.readJSON(words[0])
			if err != nil {
				return err
			}
			return a.person(cmd.Context(), func(w *acting) error {
				list, err := w.node.ExplainEvent(cmd.Context(), w.caller, workspace, role, raw, all)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(list)
				}
				showDecisions(a, list)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "which, if you have several")
	cmd.Flags().StringVar(&role, "role", "", "as if the event named this role")
	cmd.Flags().BoolVar(&all, "all", false, "every role of the workspace, each for itself")
	return cmd
}

func roleMoveCommand(a *app, verb string, on schemas.Trigger, short string) *cobra.Command {
	var workspace, reason string
	cmd := &cobra.Command{
		Use:     verb + " ROLE",
		Short:   short,
		Example: "  cordelia role " + verb + " triager",
		Args:    wants(1, "ROLE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				to, err := w.node.MoveRole(cmd.Context(), w.caller, workspace, words[0], on, reason)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"role": words[0], "state": to})
				}
				a.say("%s is %s", clean(words[0]), to)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "which, if you have several")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return cmd
}

func roleTestedCommand(a *app) *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use:     "testing-report ROLE",
		Short:   "Show what a role in testing would have done",
		Example: "  cordelia role testing-report triager",
		Args:    wants(1, "ROLE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				list, err := w.node.TestedRole(cmd.Context(), w.caller, workspace, words[0])
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(list)
				}
				showTested(a, list)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "which, if you have several")
	return cmd
}

func roleApproveCommand(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "approve ID HASH",
		Short: "Approve what a role asks, as it was shown: an action, a spawn, a template",
		Long: `Approve what a role asks: an action, a spawn, a template. It is review approve, for one
thing; review list shows what waits, and each hash.`,
		Example: "  cordelia role approve 1cd21f84 9f86d081884c…",
		Args:    wants(2, "ID", "HASH"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return decide(cmd.Context(), a, "", map[string]any{
				"decisions": []map[string]any{decision(words[0], "approve", words[1], reason)}})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record; to a request, the answer")
	a.completeWords(cmd, []string{"review"})
	return cmd
}
