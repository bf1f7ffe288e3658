package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"cordelia/schemas"
)

// InsufficientScope is what Authenticate returns for a valid token that lacks
// the scope the endpoint needs (RFC 6750 section 3.1): 403, naming that scope
// and no other.
type InsufficientScope struct{ Scope string }

func (e *InsufficientScope) Error() string { return "insufficient scope: " + e.Scope }

// guard decides, before anything else looks at a request, whether a browser
// was tricked into sending it and who sent it.
type guard struct {
	origins      []string // besides the server's own on loopback
	hosts        []string // besides loopback names, where the socket is loopback
	authenticate func(ctx context.Context, bearer string) (Principal, error)
}

// admit refuses foreign hosts (DNS rebinding), foreign origins and cross-site
// requests. An absent Origin passes: only browsers send it.
func (g *guard) admit(r *http.Request) error {
	if onLoopback(r) && !isLoopbackHost(r.Host) && !slices.Contains(g.hosts, r.Host) {
		return errors.New("the Host is not this server's: cordelia serve --host allows one, written as " +
			"clients send it")
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		if strings.EqualFold(r.Header.Get("Sec-Fetch-Site"), "cross-site") {
			return errors.New("cross-site requests are refused")
		}
		return nil
	}
	if len(origins) == 1 && (slices.Contains(g.origins, origins[0]) || ownOrigin(r, origins[0])) {
		return nil
	}
	// A form of a page that sends no referrer has this origin, and only its browser can say
	// that the page is of this server.
	if len(origins) == 1 && origins[0] == "null" && r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return nil
	}
	return errors.New("the Origin is not allowed")
}

// onLoopback reports whether the request came in over a loopback socket; one
// whose socket is unknown counts as such.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	ap, err := netip.ParseAddrPort(addr.String())
	return err != nil || ap.Addr().Unmap().IsLoopback()
}

// isLoopbackHost takes a Host header: localhost or a loopback address, with or
// without a port.
func isLoopbackHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	} else if strings.Trim(port, "0123456789") != "" {
		return false
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

// ownOrigin reports whether origin is this very server, on loopback. The
// origin is rebuilt from its parts, so that nothing else hides in it.
func ownOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin || !isLoopbackHost(u.Host) || u.Host != r.Host {
		return false
	}
	return u.Scheme == "http" && r.TLS == nil || u.Scheme == "https" && r.TLS != nil
}

// b64token is the syntax of a bearer token (RFC 6750 section 2.1).
var b64token = regexp.MustCompile(`^[A-Za-z0-9\-._~+/]+=*$`)

// refusedAuth is an authentication failure as HTTP tells it.
type refusedAuth struct {
	status    int
	msg       string
	challenge string
}

// identify finds out who sends a request. The token counts in the
// Authorization header alone (RFC 6750 sections 2.2 and 2.3 are not offered).
func (g *guard) identify(r *http.Request) (Principal, *refusedAuth) {
	const challenge = `Bearer realm="cordelia"`
	unauthorized := func(msg, detail string) (Principal, *refusedAuth) {
		return Principal{}, &refusedAuth{http.StatusUnauthorized, msg, challenge + detail}
	}
	malformed := func(msg string) (Principal, *refusedAuth) {
		return Principal{}, &refusedAuth{http.StatusBadRequest, msg, challenge + `, error="invalid_request"`}
	}
	if r.URL.Query().Has("access_token") {
		return unauthorized("a token in the URL is not accepted: send it in the Authorization header",
			`, error="invalid_request"`)
	}
	values := r.Header.Values("Authorization")
	if len(values) > 1 {
		return malformed("more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(strings.Join(values, ""), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return unauthorized("a bearer token is needed: POST /auth/challenge begins to get one, and on the node's machine "+
			"cordelia agent token NAME prints one", "")
	}
	if !b64token.MatchString(token) {
		return malformed("the bearer token is malformed")
	}
	if g.authenticate == nil {
		return unauthorized("no token is accepted here", `, error="invalid_token"`)
	}
	p, err := g.authenticate(r.Context(), token)
	if err == nil && p.ID != "" {
		return p, nil
	}
	if scope, ok := errors.AsType[*InsufficientScope](err); ok {
		return Principal{}, &refusedAuth{http.StatusForbidden, "the token lacks a scope",
			fmt.Sprintf(`%s, error="insufficient_scope", scope=%q`, challenge, scope.Scope)}
	}
	switch schemas.CodeOf(err) {
	case schemas.CodeDenied:
		return Principal{}, &refusedAuth{http.StatusForbidden, "not allowed", ""}
	case schemas.CodeBusy, schemas.CodeUnavailable:
		return Principal{}, &refusedAuth{http.StatusServiceUnavailable, "authentication is unavailable, try again", ""}
	}
	return unauthorized("the token is not valid or has expired: get a new one, by POST /auth/challenge or cordelia agent "+
		"token NAME, which says why where the agent gets none", `, error="invalid_token"`)
}
