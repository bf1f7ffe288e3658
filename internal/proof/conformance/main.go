package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"cordelia/mcp"

	sdkserver "github.com/mark3labs/mcp-go/server"
)

func main() {
	addr := flag.String("http", "", "serve Streamable HTTP on this loopback `ADDR` instead of stdio; the address is "+
		"printed on stderr")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	router := newRouter(log)
	tester := mcp.Principal{ID: "conformance"}
	if addr == "" {
		return mcp.ServeStdio(mcp.WithPrincipal(ctx, tester), router, os.Stdin, os.Stdout, mcp.StdioOptions{})
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("%s is not a loopback address", addr), l.Close())
	}
	handler := mcp.NewHTTPHandler(ctx, router, mcp.HTTPOptions{
		Authenticate: func(context.Context, string) (mcp.Principal, error) { return tester, nil },
	})
	srv := mcp.NewHTTPServer(ctx, anonymous(handler))
	fmt.Fprintln(os.Stderr, "listening on", l.Addr())
	context.AfterFunc(ctx, func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = srv.Shutdown(closing)
	})
	if err := srv.Serve(mcp.Listen(l, 0)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// anonymous presents a token in place of the suite, which has none.
func anonymous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer conformance")
		next.ServeHTTP(w, r)
	})
}

// newRouter serves everything the suite asks for.
func newRouter(log *slog.Logger) *mcp.Router {
	js := newJobs()
	srv := newServer()
	addTaskTools(srv, js)
	router := mcp.NewRouter(srv, log)
	router.ServeTasks(js)
	return router
}

func newServer() *sdkserver.MCPServer {
	srv := sdkserver.NewMCPServer("cordelia-conformance", "1.0.0",
		sdkserver.WithToolCapabilities(true),
		sdkserver.WithPromptCapabilities(true),
		sdkserver.WithResourceCapabilities(true, true),
		sdkserver.WithLogging(),
		sdkserver.WithCompletions(),
		sdkserver.WithPromptCompletionProvider(completions{}),
		sdkserver.WithInstructions("Test fixtures of the MCP conformance suite."),
	)
	addTools(srv)
	addClientTools(srv)
	addInputTools(srv)
	addResources(srv)
	addPrompts(srv)
	return srv
}
