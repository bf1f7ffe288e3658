package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/schemas"
)

func memoryReleaseCommand(a *cli.App) *cobra.Command {
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
takes effect without you. --revoke holds an item back against any agreement.`,
		Example: "  cordelia memory release 1cd21f84 --if-version 1",
		Args:    cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				if len(words) == 1 {
					id := schemas.ItemID(words[0])
					if err := w.Node.Release(cmd.Context(), w.Caller, id, version, !revoke); err != nil {
						return err
					}
					if a.AsJSON {
						return a.PrintJSON(map[string]any{"id": id, "released": !revoke})
					}
					a.Say("%s", map[bool]string{true: "held back", false: "released"}[revoke])
					return nil
				}
				if revoke {
					return schemas.Invalidf("--revoke is about one item").Try(
						"name it: cordelia memory release ID --revoke")
				}
				items, err := w.Node.Held(cmd.Context(), w.Caller)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"items": items})
				}
				if err := w.Learn(cmd.Context(), items); err != nil {
					return err
				}
				showHeld(a, items)
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&version, "if-version", 0, "the version of the item that you read")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "hold the item back again")
	a.CompleteWords(cmd, []string{"id"})
	return cmd
}

func showHeld(a *cli.App, items []memory.Item) {
	if len(items) == 0 {
		a.Say("Nothing waits for your release.")
		return
	}
	t := cli.Table{Firm: 3, Head: []string{"ID", "VERSION", "KIND", "AUTHOR", "SOURCE", "GROUP", "DATE", "NAME"}}
	for _, i := range items {
		var data struct {
			Kind string `json:"type"`
		}
		if json.Unmarshal(i.Data, &data) != nil {
			data.Kind = string(i.Type)
		}
		t.Add(cli.Styled(cli.Short(i.ID), cli.Dim), cli.Text(strconv.Itoa(i.Version)), cli.Text(cli.Clean(data.Kind)),
			cli.Text(a.Who(i.Author)), cli.Text(cli.Clean(string(i.Provenance.Source))),
			cli.Text(cli.Clean(string(i.Group))), cli.Text(cli.Clock(i.CreatedAt)),
			cli.Styled(cli.Clean(i.Name), cli.Bold))
	}
	a.Print(t)
}
