package main

import (
	"fmt"

	strictjson "github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/schemas"
)

func agentRecordCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "record AGENT",
		Short:   "Print an agent's public record, for another node to adopt",
		Example: `  cordelia agent record researcher > researcher.json`,
		Args:    cli.Wants(1, "AGENT"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				r, err := w.Node.RecordOf(cmd.Context(), w.Caller.Principal, words[0])
				if err != nil {
					return err
				}
				return a.PrintJSON(r)
			})
		},
	}
}

func agentAdoptCommand(a *cli.App) *cobra.Command {
	var adoption node.Adoption
	var capabilities string
	cmd := &cobra.Command{
		Use:   "adopt FILE",
		Short: "Take in an agent of another node, by its record",
		Long: `Take in an agent of another node under yourself, by the record its node printed;
FILE - reads it from the input. It keeps its key, proves itself over HTTP, and starts at tier low: groups are
read only until its work was found right.`,
		Example: `  cordelia agent adopt researcher.json --group team`,
		Args:    cli.Wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			raw, err := a.ReadJSON(words[0])
			if err != nil {
				return err
			}
			if err := strictjson.Unmarshal(raw, &adoption.Record, strictjson.RejectUnknownMembers(true)); err != nil {
				return schemas.Invalidf("%s is not the record of an agent", words[0]).
					Expecting("what cordelia agent record prints").Because(err)
			}
			if capabilities != "" {
				if adoption.Capabilities, err = a.ReadJSON(capabilities); err != nil {
					return err
				}
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				r, err := w.Node.Adopt(cmd.Context(), w.Caller.Principal, adoption)
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(map[string]any{"agent_id": r.ID, "name": r.Name, "node_id": r.NodeID,
						"status": r.Status})
				}
				a.Say("%s", fmt.Sprintf("%s %s of node %s, tier low", cli.Clean(r.Name), cli.Short(string(r.ID)),
					cli.Short(r.NodeID)))
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&adoption.Name, "name", "", "its short name here")
	f.StringArrayVar(&adoption.Groups, "group", nil, "groups it joins (repeatable)")
	f.StringVar(&capabilities, "capabilities", "",
		"its rights (JSON, a `file` with it, or - for stdin); omitted: those of a worker")
	return cmd
}
