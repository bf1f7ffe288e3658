package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/hooks"
	"cordelia/schemas"
)

// hookLimit bounds what a hook reads, in bytes: a prompt may hold a whole file.
const hookLimit = 8 << 20

// hookName is the name of the command.
const hookName = "hook"

func hookCommand(a *cli.App) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   hookName,
		Short: "Answer a hook of Claude Code; setup writes it into the plugin",
		Long: `Read what a hook of Claude Code is told on stdin, and print what it should add to
the conversation. Never gets in the way: whatever is wrong, it prints nothing,
ends within three seconds and exits 0. With --verbose it says on stderr why.`,
		Example:            `  echo '{"hook_event_name": "UserPromptSubmit", "prompt": "the importer"}' | cordelia hook`,
		Hidden:             true,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			hook(cmd.Context(), a, as)
			return nil
		},
	}
	cmd.Flags().StringVar(&as, "as", os.Getenv(asVariable), "act as this agent; also $"+asVariable)
	return cmd
}

// asVariable names the agent that the processes of a client's session act as: the user who
// starts the client sets it, and what the client starts inherits it.
const asVariable = "CORDELIA_AS"

// hook answers a hook, or prints nothing.
func hook(ctx context.Context, a *cli.App, as string) {
	ctx, stop := context.WithTimeout(ctx, hooks.Patience)
	defer stop()
	answers := make(chan []byte, 1)
	// The database, the disk or the program that writes stdin may keep us longer than the client
	// should wait.
	go func() {
		defer func() {
			if v := recover(); v != nil {
				slog.Debug("hook", "panic", v)
				answers <- nil
			}
		}()
		answer, err := hookAnswer(ctx, a, as)
		if err != nil {
			slog.Debug("hook", "err", err)
		}
		answers <- answer
	}()
	select {
	case answer := <-answers:
		a.Out.Write(answer) //nolint:errcheck // the client is gone
	case <-ctx.Done():
	}
}

// hookAnswer is what to print: nothing, or one line of JSON.
func hookAnswer(ctx context.Context, a *cli.App, as string) (printed []byte, err error) {
	raw, err := io.ReadAll(io.LimitReader(a.In, hookLimit))
	if err != nil {
		return nil, fmt.Errorf("read stdin: %w", err)
	}
	var in hooks.Input
	if err := json.Unmarshal(bytes.TrimSpace(raw), &in); err != nil {
		return nil, schemas.Invalidf("stdin is not the JSON that a client gives a hook").Because(err)
	}
	n, err := a.OpenUsed(ctx)
	if err != nil {
		return nil, err
	}
	defer cli.Closing(n, &err)
	file, err := n.OpenIdentity(ctx, as)
	if err != nil {
		return nil, err
	}
	defer file.Identity.Erase()
	session := in.Session
	if session == "" {
		session = clientSession()
	}
	caller, err := n.Caller(ctx, file, session)
	if err != nil {
		return nil, err
	}
	if caller.Dir, err = cli.WorkingFolder(""); err != nil {
		return nil, err
	}
	answer, err := hooks.New(n).Answer(ctx, caller, in)
	if answer == (hooks.Answer{}) {
		return nil, err
	}
	line, bad := json.Marshal(answer)
	if bad != nil {
		return nil, bad
	}
	return append(line, '\n'), err
}
