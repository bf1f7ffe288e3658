// Command empty is the least an MCP server made with mcp-go can be: one tool
// that does nothing, over the SDK's own stdio or HTTP transport. The
// measurements of package bench stand beside it.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "empty:", err)
		os.Exit(1)
	}
}

// serve serves on stdin and stdout, or over HTTP with any argument.
func serve() error {
	s := server.NewMCPServer("empty", "1", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("empty"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(""), nil
	})
	if len(os.Args) == 1 {
		return server.ServeStdio(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return http.Serve(l, server.NewStreamableHTTPServer(s, server.WithStateLess(true)))
}
