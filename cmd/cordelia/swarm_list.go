package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) swarmListCommand() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "list", Short: "List the swarms you see, those that run first",
		Example: "  cordelia swarm list",
		Args:    wants(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.act(cmd.Context(), as, func(w *acting) error {
				list, err := w.node.Swarms(cmd.Context(), w.caller, w.as)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(map[string]any{"swarms": list})
				}
				if len(list) == 0 {
					a.say("No swarms. Make one: cordelia swarm create GOAL --strategy broadcast --agents '[{\"slot\": \"worker\", \"count\": 3}]'")
					return nil
				}
				t := table{firm: 1, head: []string{"SWARM", "STRATEGY", "AGENTS", "MADE", "ENDED", "GOAL"}}
				for _, s := range list {
					t.add(cell{text: clean(string(s.SwarmID))}, cell{text: clean(string(s.Strategy))}, cell{text: fmt.Sprint(s.Agents)},
						cell{text: clock(s.MadeAt)}, cell{text: clock(s.EndedAt)}, cell{text: clean(s.Goal)})
				}
				a.print(t)
				return nil
			})
		},
	}
	asFlag(cmd, &as)
	return cmd
}
