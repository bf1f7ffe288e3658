package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
)

// release is set by the release build: -ldflags "-X main.release=v1.2.3".
var release string

// version is the release, or the commit of a build from a checkout.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.Wants(0),
		RunE: func(*cobra.Command, []string) error {
			if a.AsJSON {
				return a.PrintJSON(map[string]any{"version": version(), "schema": node.SchemaVersion(),
					"go": runtime.Version()})
			}
			fmt.Fprintf(a.Out, "cordelia %s (schema %d, %s)\n", version(), node.SchemaVersion(), runtime.Version())
			return nil
		},
	}
}
