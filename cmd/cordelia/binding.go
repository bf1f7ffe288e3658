package main

import (
	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/schemas"
)

func memoryBindCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "bind DIR GROUP",
		Short: "Let what is remembered in a folder go to a group",
		Long: `Bind a folder, and all below it, to a group. What you and your agents write there
goes to the group unless the call says otherwise, and searches made there show
the group's items first. The longest bound folder counts. It opens nothing: who
may not read the group writes and searches as everywhere else. Over HTTP there is
no folder.`,
		Example: `  cordelia memory bind ~/src/parser parser-team`,
		Args:    wants(2, "DIR", "GROUP"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				b, err := w.node.Bind(cmd.Context(), w.caller.Principal, words[0], schemas.GroupID(words[1]))
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(b)
				}
				a.say("%s is bound to %s", clean(b.Dir), clean(string(b.Group)))
				a.note("agents that run notice at once")
				return nil
			})
		},
	}
}

func memoryUnbindCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "unbind DIR",
		Short:   "End the binding of a folder; what was written stays",
		Example: `  cordelia memory unbind ~/src/parser`,
		Args:    wants(1, "DIR"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				dir, err := w.node.Unbind(cmd.Context(), w.caller.Principal, words[0])
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"dir": dir})
				}
				a.say("%s is bound no more", clean(dir))
				return nil
			})
		},
	}
}

func memoryBindingsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "bindings",
		Short:   "List the folders that are bound to groups",
		Example: `  cordelia memory bindings`,
		Args:    wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				list, err := w.node.Bindings(cmd.Context(), w.caller.Principal)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"bindings": append([]memory.Binding{}, list...)})
				}
				if len(list) == 0 {
					a.say("No folder is bound. Bind one: cordelia memory bind DIR GROUP")
					return nil
				}
				t := table{firm: 2, head: []string{"FOLDER", "GROUP", "SINCE"}}
				for _, b := range list {
					t.add(cell{clean(b.Dir), bold}, cell{text: clean(string(b.Group))}, cell{text: clock(b.MadeAt)})
				}
				a.print(t)
				return nil
			})
		},
	}
}
