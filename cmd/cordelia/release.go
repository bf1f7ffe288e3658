package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/schemas"
)

func memoryReleaseCommand(a *app) *cobra.Command {
	var revoke bool
	var version int
	cmd := &cobra.Command{
		Use:   "release [ID]",
		Short: "Let an item that instructs agents take effect, or list what waits",
		Long: `Procedures, constraints and templates tell their readers what to do. Those that
agents wrote take effect when you release them; without ID, list what waits in
your places. Read an item first: cordelia memory read ID. Your release is of the
version you read.

What agents of different lines wrote alike, and that names known tools only,
takes effect without you. --revoke holds an item back whoever agrees.`,
		Example: "  cordelia memory release 1cd21f84 --if-version 1",
		Args:    wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				if len(words) == 1 {
					id := schemas.ItemID(words[0])
					if err := w.node.Release(cmd.Context(), w.caller, id, version, !revoke); err != nil {
						return err
					}
					if a.asJSON {
						return a.printJSON(map[string]any{"id": id, "released": !revoke})
					}
					a.say("%s", map[bool]string{true: "held back", false: "released"}[revoke])
					return nil
				}
				if revoke {
					return schemas.Invalidf("--revoke is about one item").Try(
						"name it: cordelia memory release ID --revoke")
				}
				items, err := w.node.Held(cmd.Context(), w.caller)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"items": items})
				}
				if err := w.learn(cmd.Context(), items); err != nil {
					return err
				}
				showHeld(a, items)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&version, "if-version", 0, "the version of the item that you read")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "hold the item back again")
	a.completeWords(cmd, []string{"id"})
	return cmd
}

func showHeld(a *app, items []memory.Item) {
	if len(items) == 0 {
		a.say("Nothing waits for your release.")
		return
	}
	t := table{firm: 3, head: []string{"ID", "VERSION", "KIND", "AUTHOR", "SOURCE", "GROUP", "DATE", "NAME"}}
	for _, i := range items {
		var data struct {
			Kind string `json:"type"`
		}
		if json.Unmarshal(i.Data, &data) != nil {
			data.Kind = string(i.Type)
		}
		t.add(cell{short(i.ID), dim}, cell{text: strconv.Itoa(i.Version)}, cell{text: clean(data.Kind)},
			cell{text: a.who(i.Author)}, cell{text: clean(string(i.Provenance.Source))},
			cell{text: clean(string(i.Group))}, cell{text: clock(i.CreatedAt)}, cell{clean(i.Name), bold})
	}
	a.print(t)
}
