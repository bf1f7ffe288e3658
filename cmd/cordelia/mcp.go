package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/cmd/cordelia/cli"
	"cordelia/hooks"
	"cordelia/mcp"
	"cordelia/ops"
	runner "cordelia/run"
	"cordelia/schemas"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	as, toolsets, dir string
	connect           string
	structured        bool
}

func mcpCommand(a *cli.App) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on stdin and stdout, acting as one agent",
		Long: `Serve MCP on stdin and stdout, as the agent whose key this machine holds: by
default the user's own claude-code agent. In an empty home the identities are
made first. This is what clients start; setup writes it into their settings.`,
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.connect != "" {
				return runner.Knock(cmd.Context(), f.connect, a.In, a.Out)
			}
			return serveStdio(cmd.Context(), a, f)
		},
	}
	cmd.Flags().StringVar(&f.as, "as", os.Getenv(asVariable),
		"act as this agent: name, id or id prefix; its key must be on this machine; also $"+asVariable)
	toolsetsFlag(cmd.Flags(), &f.toolsets)
	cmd.Flags().StringVar(&f.dir, "dir", "",
		"folder the agent works in (default: the one this is started in); it may be bound to a group")
	databaseFlag(cmd.Flags(), a)
	cmd.Flags().StringVar(&f.connect, "connect", "",
		"pass everything on to a server behind this unix socket, and open no home: for workers of cordelia run")
	cmd.Flags().BoolVar(&f.structured, "structured", false,
		"for programs: results carry their fields (structuredContent) beside the text, and tools their outputSchema")
	return cmd
}

func serveStdio(ctx context.Context, a *cli.App, f mcpFlags) (err error) {
	sets, err := parseToolsets(f.toolsets)
	if err != nil {
		return err
	}
	dir, err := cli.WorkingFolder(f.dir)
	if err != nil {
		return err
	}
	// A client waits for the first answer: until then nothing is garbage. Collecting, a process
	// took 28 ms to it instead of 24.
	percent := debug.SetGCPercent(-1)
	collect := sync.OnceFunc(func() { debug.SetGCPercent(percent) })
	defer collect()
	defer time.AfterFunc(time.Second, collect).Stop() // it may never ask
	n, err := a.OpenNode(ctx)
	if err != nil {
		return err
	}
	defer cli.Closing(n, &err)
	if made, did, err := n.EnsureUser(ctx); err != nil {
		return err
	} else if did {
		fmt.Fprintf(a.ErrOut, "cordelia: made the identities of %s and its claude-code agent in %s\n", made.Human,
			a.Home)
	}
	routers := make(chan *mcp.Router, 1)
	go func() { // while the agent proves who it is
		routers <- mcp.NewServer(ctx, n, mcp.ServerOptions{Version: cli.Version(), Toolsets: sets, Log: slog.Default(),
			Hooks: hooks.New(n), Structured: f.structured})
	}()
	caller, err := ownCaller(ctx, n, f.as)
	router := <-routers
	if err != nil {
		return err
	}
	caller.Dir = dir
	ctx = mcp.WithPrincipal(ctx, mcp.Principal{ID: string(caller.Entity), Caller: caller})
	err = mcp.ServeStdio(ctx, router, a.In, &firstWrite{Writer: a.Out, done: collect}, mcp.StdioOptions{})
	if errors.Is(err, context.Canceled) {
		return nil // stopped by a signal
	}
	return err
}

// ownCaller is the agent a client's process acts as.
func ownCaller(ctx context.Context, n *ops.Service, as string) (ops.Caller, error) {
	file, err := n.OpenIdentity(ctx, as)
	if err != nil {
		return ops.Caller{}, err
	}
	caller, err := n.Caller(ctx, file, clientSession())
	if err != nil && as == "" {
		err = cmp.Or(n.StrangeKey(ctx), err)
	}
	return caller, err
}

// firstWrite calls done once the first write is.
type firstWrite struct {
	io.Writer
	done func()
}

func (w *firstWrite) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.done != nil {
		w.done()
		w.done = nil
	}
	return n, err
}

// clientSession names the client's session for provenance: the client's own
// name for it where it gives one, else this process.
func clientSession() string {
	if id := os.Getenv("CLAUDE_CODE_SESSION_ID"); id != "" {
		return id
	}
	return "process-" + schemas.NewID()
}

// toolsetsFlag says which tools a server offers; parseToolsets reads it.
func toolsetsFlag(fl *pflag.FlagSet, list *string) {
	fl.StringVar(list, "toolsets", "", "comma-separated toolsets to offer (default all): "+schemas.Joined(ops.Toolsets()))
}

func parseToolsets(list string) ([]ops.Toolset, error) {
	var out []ops.Toolset
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		known := false
		for _, t := range ops.Toolsets() {
			known = known || string(t) == name
		}
		if !known {
			return nil, schemas.Invalidf("there is no toolset %q", name).Expecting("%s", schemas.Joined(ops.Toolsets()))
		}
		out = append(out, ops.Toolset(name))
	}
	return out, nil
}
