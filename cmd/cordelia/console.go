package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/console"
	"cordelia/internal/endpoint"
	"cordelia/mcp"
	"cordelia/schemas"
)

func consoleCommand(a *cli.App) *cobra.Command {
	var f serveFlags
	var at string
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Open the pages: what waits for you, what your agents do, and why",
		Long: `Serve pages for people on a free port of this machine, and print a link that opens
them once, within a minute. With --url it prints a link to the pages of a server
that runs on this home, as cordelia serve does.`,
		Example: "  cordelia console\n  cordelia console --url http://127.0.0.1:7433",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if at != "" {
				return a.Person(cmd.Context(), func(w *cli.Acting) error { return linkTo(cmd.Context(), w, at) })
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error { return serveConsole(cmd.Context(), w, f) })
		},
	}
	cmd.Flags().StringVar(&at, "url", "", "where the server is whose pages to open: scheme://host[:port]")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on, of this machine alone")
	cmd.Flags().BoolVar(&f.endWithInput, "end-with-input", false, "end when the input ends")
	return cmd
}

// linkTo prints a link to the pages of a server that runs.
func linkTo(ctx context.Context, w *cli.Acting, at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return schemas.Invalidf("%q is no address of a server", at).Expecting("such as http://127.0.0.1:7433").
			Try("name the one that cordelia serve prints")
	}
	if err := reachable(ctx, u); err != nil {
		return err
	}
	return printLink(ctx, w, u)
}

// printLink prints a link that opens the pages at an address, once.
func printLink(ctx context.Context, w *cli.Acting, u *url.URL) error {
	code, err := w.Node.ConsoleCode(ctx, w.Caller.Principal)
	if err != nil {
		return err
	}
	u.Path, u.RawQuery = console.Root+"login", url.Values{"code": {code.Token.Reveal()}}.Encode()
	w.Say("%s", u.String())
	fmt.Fprintln(w.ErrOut, "cordelia: the link opens the pages once, within a minute")
	return nil
}

// reachable refuses an address that shows the link to others on its way, or one of this machine where
// nothing answers.
func reachable(ctx context.Context, at *url.URL) error {
	if at.Scheme != "http" {
		return nil // only the browser knows which certificates the person trusts
	}
	if !endpoint.Loopback(at) {
		return schemas.Invalidf("a link over http to %s would show on its way how to sign in as you", at.Host).
			Expecting("https, or an address of this machine").
			Try("serve with --tls-cert and --tls-key, and name it as https://%s", at.Host)
	}
	if err := endpoint.Answers(ctx, at); err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "nothing answers at %s", at.Host).
			Try("cordelia serve serves the pages there, cordelia console without --url here").Because(err)
	}
	return nil
}

// serveConsole serves the pages alone until it is ended.
func serveConsole(ctx context.Context, w *cli.Acting, f serveFlags) error {
	if f.endWithInput {
		var stop context.CancelFunc
		ctx, stop = untilEnd(ctx, w.In)
		defer stop()
	}
	listener, secure, err := listen(f)
	if err != nil {
		return err
	}
	defer listener.Close()
	at, err := url.Parse(base(listener, f))
	if err != nil {
		return err
	}
	if err := printLink(ctx, w, at); err != nil { // a browser that comes early waits for serveNode
		return err
	}
	return serveNode(ctx, w.App, w.Node, f, nil, secure(mcp.Listen(listener, consoleConnections)))
}

// consoleConnections are more than the tabs a person opens need.
const consoleConnections = 64
