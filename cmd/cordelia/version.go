package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.Wants(0),
		RunE: func(*cobra.Command, []string) error {
			if a.AsJSON {
				return a.PrintJSON(map[string]any{"version": cli.Version(), "schema": node.SchemaVersion(),
					"go": runtime.Version()})
			}
			fmt.Fprintf(a.Out, "cordelia %s (schema %d, %s)\n", cli.Version(), node.SchemaVersion(), runtime.Version())
			return nil
		},
	}
}
