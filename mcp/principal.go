package mcp

import "context"

// Principal is who a request was authenticated as.
type Principal struct {
	ID    string // binds sessions to their owner; unique and never empty over HTTP
	Value any    // what Authenticate returned along with it, for the operations
}

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
