package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	"cordelia/roles"
	"cordelia/schemas"
)

func roleCommand(a *cli.App) *cobra.Command {
	return cli.Group("role", "Workspaces whose agents have a charter: events become their work",
		roleApplyCommand(a),
		roleExportCommand(a),
		roleExampleCommand(a),
		cli.Command{
			Op: "role_list", Use: "list", Short: "List the roles of your workspaces", Hide: []string{"role"},
			Example: "cordelia role list", Show: cli.Shown(showRoles),
		}.Command(a),
		cli.Command{
			Op: "role_list", Use: "show ROLE", Short: "Show a role: charter, goals, trust, what it decided last",
			Takes: []string{"role"}, Example: "cordelia role show triager", Show: cli.Shown(showRole),
		}.Command(a),
		cli.Command{
			Op: "role_event", Use: "event TYPE", Short: "Send an event to the roles of a workspace",
			Takes: []string{"type"},
			Long: `Send an event to the roles of a workspace. The role that owns its domain decides:
it delegates, escalates, forwards or ignores, and says why. --payload is JSON, the
name of a file with it, or - for stdin. --delivery makes a repetition harmless.`,
			Example: `cordelia role event lead.created --domain revenue --payload '{"territory": "APAC"}'`,
			Show:    cli.Shown(showTaken),
		}.Command(a),
		roleExplainCommand(a),
		cli.Command{
			Op: "role_spawn", Use: "spawn TEMPLATE", Short: "Make a child of a role from a template",
			Takes:   []string{"template"},
			Example: `cordelia role spawn bdr --parent cro --params '{"territory": "APAC"}'`,
			Show:    cli.Shown(showSpawned),
		}.Command(a),
		cli.Command{
			Op: "role_message", Use: "message [WORDS…]", Short: "Send a message to a role; without words, list yours",
			Takes:   []string{"content?"},
			Example: `cordelia role message --to cro --request "What blocks the pipeline?"`,
			Show:    cli.Shown(showMessages),
		}.Command(a),
		roleMoveCommand(a, "test", schemas.RoleTry, "Let a role decide without anything following from it"),
		roleMoveCommand(a, "activate", schemas.Activate, "Let a role act"),
		roleMoveCommand(a, "suspend", schemas.Suspend, "Let a role rest: it gets no events, its memory stays"),
		roleMoveCommand(a, "resume", schemas.Resume, "Let a suspended role act again"),
		roleMoveCommand(a, "terminate", schemas.RoleTerminate, "End a role and those below it, with its memory policy"),
		roleTestedCommand(a),
		cli.Command{
			Op: "role_draft", Use: "drafts", Short: "List the templates that roles propose; approve decides over one",
			Only: []string{"workspace"}, Example: "cordelia role drafts",
			Show: cli.Shown(showDrafts),
		}.Command(a),
		roleApproveCommand(a),
	)
}

func roleApplyCommand(a *cli.App) *cobra.Command {
	var trial bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make a workspace what its file says; --dry-run shows the plan alone",
		Long: `Make a workspace what its YAML file says: its operators, roles, templates, policy and
webhooks. What changes is shown first; it happens all at once or not at all, and a
second time nothing changes. A role that the file names no more is suspended. A soul
may name a .md file beside the YAML. FILE - reads standard input.`,
		Example: "  cordelia role apply team.yaml --dry-run\n  cordelia role apply team.yaml",
		Args:    cli.Wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			w, err := readWorkspace(a, words[0])
			if err != nil {
				return err
			}
			return a.Person(cmd.Context(), func(who *cli.Acting) error {
				p, err := who.Node.ApplyWorkspace(cmd.Context(), who.Caller, w, trial)
				if err != nil {
					return err
				}
				p.Notes = append(p.Notes, unknownClients(w, who.Node.Home)...)
				if a.AsJSON {
					return a.PrintJSON(p)
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
func readWorkspace(a *cli.App, name string) (w schemas.Workspace, err error) {
	var raw []byte
	if name == "-" {
		raw, err = io.ReadAll(a.In)
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

// unknownClients says of recipes that name a client which no worker of this home knows.
func unknownClients(w schemas.Workspace, home node.Home) (notes []string) {
	s, err := config.Read(home)
	if err != nil {
		return nil // other commands and doctor say so
	}
	known := slices.Sorted(maps.Keys(config.Clients))
	for _, api := range s.Seats.APIs {
		known = append(known, api.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(w.Operators)) {
		client := w.Operators[id].Does.Client
		if client == "" || slices.Contains(known, config.ClientName(client)) {
			continue
		}
		notes = append(notes, fmt.Sprintf("operator %s names the client %s, which no worker of this home knows%s", id, client,
			cmp.Or(schemas.DidYouMean(client, known), "; there are "+strings.Join(known, ", "))))
	}
	return notes
}

func showPlan(a *cli.App, p roles.Plan) {
	if len(p.Changes) == 0 {
		a.Say("%s is as the file says; nothing changes", cli.Clean(p.Workspace))
	} else {
		t := cli.Table{Head: []string{"DOES", "WHAT", "ID", "WHY"}, Firm: 1}
		for _, c := range p.Changes {
			t.Add(cli.Texts(c.Does, c.What, cli.Clean(c.ID), cli.Clean(c.Why))...)
		}
		a.Print(t)
	}
	for _, c := range p.Clamped {
		a.Say("clamped: %s", cli.Clean(c))
	}
	for _, n := range p.Notes {
		a.Note("%s", cli.Clean(n))
	}
	for _, k := range p.Keys {
		a.Say("secret of %s", cli.Clean(k))
	}
	if !p.Applied {
		a.Note("nothing was changed; run it again without --dry-run")
	}
}

func roleExportCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "export [WORKSPACE]",
		Short:   "Print a workspace as the file that makes it",
		Example: "  cordelia role export >team.yaml",
		Args:    cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				file, err := w.Node.ExportWorkspace(cmd.Context(), w.Caller, strings.Join(words, ""))
				if err == nil {
					_, err = a.Out.Write(file)
				}
				return err
			})
		},
	}
}

func roleExampleCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "example NAME",
		Short: "Print a workspace that comes with the program: " + strings.Join(roles.Shipped(), ", "),
		Long: `Print the file of a workspace that comes with the program, with you as its owner, to
change and apply: triager sorts issues, fixer takes up failed checks, reviewer looks
at pull requests and asks you before it approves one.`,
		Example: "  cordelia role example triager >team.yaml\n  cordelia role apply team.yaml",
		Args:    cli.Wants(1, "NAME"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				file, err := roles.Example(words[0], w.Caller.Entity)
				if err == nil {
					a.Say("%s", strings.TrimSpace(file))
				}
				return err
			})
		},
	}
}

func roleExplainCommand(a *cli.App) *cobra.Command {
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
		Args: cli.Wants(1, "EVENT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			raw, err := a.ReadJSON(words[0])
			if err != nil {
				return err
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				list, err := w.Node.ExplainEvent(cmd.Context(), w.Caller, workspace, role, raw, all)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(list)
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

func roleMoveCommand(a *cli.App, verb string, on schemas.Trigger, short string) *cobra.Command {
	var workspace, reason string
	cmd := &cobra.Command{
		Use:     verb + " ROLE",
		Short:   short,
		Example: "  cordelia role " + verb + " triager",
		Args:    cli.Wants(1, "ROLE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				to, err := w.Node.MoveRole(cmd.Context(), w.Caller, workspace, words[0], on, reason)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"role": words[0], "state": to})
				}
				a.Say("%s is %s", cli.Clean(words[0]), to)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "which, if you have several")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return cmd
}

func roleTestedCommand(a *cli.App) *cobra.Command {
	var workspace string
	cmd := &cobra.Command{
		Use:     "testing-report ROLE",
		Short:   "Show what a role in testing would have done",
		Example: "  cordelia role testing-report triager",
		Args:    cli.Wants(1, "ROLE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				list, err := w.Node.TestedRole(cmd.Context(), w.Caller, workspace, words[0])
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(list)
				}
				showTested(a, list)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&workspace, "workspace", "", "which, if you have several")
	return cmd
}

func roleApproveCommand(a *cli.App) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "approve ID HASH",
		Short: "Approve what a role asks, as it was shown: an action, a spawn, a template",
		Long: `Approve what a role asks: an action, a spawn, a template. It is review approve, for one
thing; review list shows what waits, and each hash.`,
		Example: "  cordelia role approve 1cd21f84 9f86d081884c…",
		Args:    cli.Wants(2, "ID", "HASH"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return decide(cmd.Context(), a, "", map[string]any{
				"decisions": []map[string]any{decision(words[0], "approve", words[1], reason)}})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record; to a request, the answer")
	a.CompleteWords(cmd, []string{"review"})
	return cmd
}
