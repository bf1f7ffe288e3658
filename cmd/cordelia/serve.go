package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/console"
	"cordelia/mcp"
	"cordelia/ops"
	"cordelia/schemas"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen         string
	public         bool
	cert, key      string
	origins, hosts []string
	toolsets       string
	legacySSE      bool
	connections    int
	endWithInput   bool
}

func serveCommand(a *cli.App) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP over HTTP, with a bearer token per request",
		Long: `Serve MCP over Streamable HTTP on /mcp. Every request carries a bearer token:
POST /auth/challenge, sign its message with the entity's key, POST /auth/token;
or, for an agent of this machine, cordelia agent token NAME.`,
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return serveHTTP(cmd.Context(), a, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.listen, "listen", "127.0.0.1:7433", "address to listen on")
	fl.BoolVar(&f.public, "listen-public", false, "allow an address that is not loopback (needs TLS)")
	fl.StringVar(&f.cert, "tls-cert", "", "TLS certificate file")
	fl.StringVar(&f.key, "tls-key", "", "TLS key file")
	fl.StringSliceVar(&f.origins, "origin", nil, "browser origin to allow, as scheme://host[:port]; repeatable")
	fl.StringSliceVar(&f.hosts, "host", nil, "Host header to allow besides loopback's; repeatable")
	toolsetsFlag(fl, &f.toolsets)
	fl.BoolVar(&f.legacySSE, "legacy-sse", false, "also serve the deprecated HTTP+SSE transport")
	databaseFlag(fl, a)
	fl.IntVar(&f.connections, "max-connections", 1024, "connections held at once for clients with a token")
	fl.BoolVar(&f.endWithInput, "end-with-input", false,
		"end when the input ends, as mcp does: with the program that started it")
	return cmd
}

// databaseFlag names the database of a node that shares its state.
func databaseFlag(fl *pflag.FlagSet, a *cli.App) {
	fl.StringVar(&a.DB, "db", "", "PostgreSQL database that keeps the state, as postgres://user@host/database; no "+
		"password; also $"+cli.DatabaseVariable+" and the setting database")
}

func serveHTTP(ctx context.Context, a *cli.App, f serveFlags) (err error) {
	sets, err := parseToolsets(f.toolsets)
	if err != nil {
		return err
	}
	if f.endWithInput {
		var stop context.CancelFunc
		ctx, stop = untilEnd(ctx, a.In)
		defer stop()
	}
	listener, secure, err := listen(f)
	if err != nil {
		return err
	}
	defer listener.Close()
	n, err := a.OpenNode(ctx)
	if err != nil {
		return err
	}
	defer cli.Closing(n, &err)
	if _, _, err := n.EnsureUser(ctx); err != nil {
		return err
	}
	if err := n.StrangeKey(ctx); err != nil { // commands here would act as no one
		return err
	}
	if err := config.Outward(n.Node); err != nil {
		return err
	}
	at := base(listener, f)
	a.Note("serving MCP on %[1]s/mcp, webhooks on %[1]s/hooks/SOURCE, the console on %[1]s%[2]s "+
		"(to open it: cordelia console --url %[1]s)", at, console.Root)
	if strings.Contains(at, anyName) {
		a.Note("%s is a name of this machine that its certificate has", anyName)
	}
	return serveNode(ctx, a, n, f, sets, secure(mcp.Listen(listener, f.connections)))
}

// serveNode serves a node until ctx ends.
func serveNode(ctx context.Context, a *cli.App, n *ops.Service, f serveFlags, sets []ops.Toolset,
	on net.Listener) error {
	prices, err := config.ReadPrices(n.Home)
	if err != nil {
		return err
	}
	router := mcp.NewServer(ctx, n, mcp.ServerOptions{Version: cli.Version(), Toolsets: sets, Log: slog.Default()})
	routes := mcp.Routes(n)
	pages := console.New(n, prices.Cost, a.Hint)
	routes[console.Root] = mcp.Route{Handler: pages, Known: pages.Known}
	srv := mcp.NewHTTPServer(ctx, mcp.NewHTTPHandler(ctx, router, mcp.HTTPOptions{
		Authenticate: mcp.Bearer(n), Origins: f.origins, Hosts: f.hosts, Routes: routes, LegacySSE: f.legacySSE,
		Line: mcp.Line(n),
	}))
	done := make(chan error, 1)
	go func() { done <- srv.Serve(on) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return srv.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// untilEnd ends the context with the input: the process at its other end may be killed,
// and could not end this process then.
func untilEnd(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		io.Copy(io.Discard, in) //nolint:errcheck // to its end, however it comes
	}()
	return ctx, stop
}

// anyName stands for the name of a server that listens on all addresses of its machine.
const anyName = "NAME"

// base is where clients reach a listener. An address that stands for all of the machine's is none to reach it
// by: no certificate names it, and it is no name of this server.
func base(l net.Listener, f serveFlags) string {
	scheme, at := "http", l.Addr().String()
	if f.cert != "" {
		scheme = "https"
	}
	if addr, ok := l.Addr().(*net.TCPAddr); ok && addr.IP.IsUnspecified() {
		at = fmt.Sprintf("%s:%d", anyName, addr.Port)
	}
	return scheme + "://" + at
}

// listen opens the socket; beyond loopback only when asked for and encrypted. secure
// puts TLS over its connections where there is a certificate.
func listen(f serveFlags) (l net.Listener, secure func(net.Listener) net.Listener, err error) {
	l, err = net.Listen("tcp", f.listen)
	if err != nil {
		return nil, nil, schemas.Errorf(schemas.CodeUnavailable, "cannot listen on %s: %v", f.listen, err).
			Expecting("an address such as 127.0.0.1:7433").Try("choose another with --listen").Because(err)
	}
	loopback := false
	if addr, ok := l.Addr().(*net.TCPAddr); ok {
		loopback = addr.IP.IsLoopback()
	}
	if !loopback && (!f.public || f.cert == "") {
		l.Close() //nolint:errcheck // nothing was accepted
		return nil, nil, schemas.Deniedf("%s is not a loopback address", f.listen).
			Expecting("--listen-public together with --tls-cert and --tls-key").
			Try("listen on 127.0.0.1, or add those flags")
	}
	if f.cert == "" {
		return l, func(plain net.Listener) net.Listener { return plain }, nil
	}
	cert, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		l.Close() //nolint:errcheck // nothing was accepted
		return nil, nil, schemas.Invalidf("the TLS certificate or key cannot be read").
			Try("name PEM files that belong together with --tls-cert and --tls-key").Because(err)
	}
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}}
	return l, func(plain net.Listener) net.Listener { return tls.NewListener(plain, conf) }, nil
}
