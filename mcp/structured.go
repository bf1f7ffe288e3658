package mcp

import (
	"context"
	"net/http"
)

// A tool's result is one text, which is complete. Clients hand structuredContent to
// their model in place of the text, so a result has none, and a tool has no
// outputSchema, unless a program asks: cordelia mcp --structured for a whole process,
// the header for an HTTP request, the _meta field for any single request.
const (
	structuredMeta   = "cordelia/structured"
	structuredHeader = "Cordelia-Structured"
)

type structuredKey struct{}

// withStructured notes that the request being handled asks for structured results.
func withStructured(ctx context.Context) context.Context {
	return context.WithValue(ctx, structuredKey{}, true)
}

// structuredRequest notes what an HTTP request's header asks for.
func structuredRequest(ctx context.Context, header http.Header) context.Context {
	if header.Get(structuredHeader) == "1" {
		return withStructured(ctx)
	}
	return ctx
}

// structured reports whether the answer to the request being handled carries
// structured results and their schemas.
func (b *binding) structured(ctx context.Context) bool {
	asked, _ := ctx.Value(structuredKey{}).(bool)
	return b.opts.Structured || asked
}
