package mcp

import (
	"context"

	"cordelia/ops"
)

// Principal is who a request was authenticated as.
type Principal struct {
	ID string // binds sessions to their owner; unique and never empty over HTTP
	// Caller calls the operations; the zero Caller, which calls none, where the registry is
	// not the catalogue's.
	Caller ops.Caller
}

// calls reports whether p may call operations at all.
func (p Principal) calls() bool { return p.Caller.Entity != "" }

type principalKey struct{}

// WithPrincipal returns a context acting as p. A stdio server sets it once for
// its whole life; over HTTP the handler sets it for each request.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom gives the principal of a request; false when there is none.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok && p.ID != ""
}
