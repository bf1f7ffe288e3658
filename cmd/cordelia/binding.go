package main

import (
	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/schemas"
)

func memoryBindCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "bind DIR GROUP",
		Short: "Let what is remembered in a folder go to a group",
		Long: `Bind a folder, and all below it, to a group. What you and your agents write there
goes to the group unless the call says otherwise, and searches made there show
the group's items first. The longest bound folder counts. It opens nothing: who
may not read the group writes and searches as everywhere else. Over HTTP there is
no folder.`,
		Example: `  cordelia memory bind ~/src/parser parser-team`,
		Args:    cli.Wants(2, "DIR", "GROUP"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				b, err := w.Node.Bind(cmd.Context(), w.Caller.Principal, words[0], schemas.GroupID(words[1]))
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(b)
				}
				a.Say("%s is bound to %s", cli.Clean(b.Dir), cli.Clean(string(b.Group)))
				a.Note("agents that run notice at once")
				return nil
			})
		},
	}
}

func memoryUnbindCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "unbind DIR",
		Short:   "End the binding of a folder; what was written stays",
		Example: `  cordelia memory unbind ~/src/parser`,
		Args:    cli.Wants(1, "DIR"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				dir, err := w.Node.Unbind(cmd.Context(), w.Caller.Principal, words[0])
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"dir": dir})
				}
				a.Say("%s is bound no more", cli.Clean(dir))
				return nil
			})
		},
	}
}

func memoryBindingsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "bindings",
		Short:   "List the folders that are bound to groups",
		Example: `  cordelia memory bindings`,
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				list, err := w.Node.Bindings(cmd.Context(), w.Caller.Principal)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"bindings": append([]memory.Binding{}, list...)})
				}
				if len(list) == 0 {
					a.Say("No folder is bound. Bind one: cordelia memory bind DIR GROUP")
					return nil
				}
				t := cli.Table{Firm: 2, Head: []string{"FOLDER", "GROUP", "SINCE"}}
				for _, b := range list {
					t.Add(cli.Styled(cli.Clean(b.Dir), cli.Bold), cli.Text(cli.Clean(string(b.Group))),
						cli.Text(cli.Clock(b.MadeAt)))
				}
				a.Print(t)
				return nil
			})
		},
	}
}
