package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"
)

// openRoutes serves the routes that need no token. It reads a body whole, within a deadline,
// before the request takes a slot: a slow unknown client then holds nothing but its connection.
type openRoutes struct {
	turns chan struct{}
}

// admit bounds the body of a request and the number of such requests served at once.
func (o openRoutes) admit(next http.Handler, most int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(openTimeout)) // only recorders cannot
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
			if _, over := errors.AsType[*http.MaxBytesError](err); over {
				w.Header().Set("Connection", "close")
				bodyTooLarge(w)
				return
			}
			if err != nil {
				w.Header().Set("Connection", "close")
				answer(w, http.StatusRequestTimeout, map[string]any{"error": "invalid",
					"message": "the body did not arrive"})
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		late := time.NewTimer(openTimeout)
		defer late.Stop()
		select {
		case o.turns <- struct{}{}:
			defer func() { <-o.turns }()
			next.ServeHTTP(w, r)
		case <-late.C:
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusServiceUnavailable, map[string]any{"error": "busy",
				"message": "too many requests without a token"})
		case <-r.Context().Done():
		}
	})
}

func bodyTooLarge(w http.ResponseWriter) {
	answer(w, http.StatusRequestEntityTooLarge, map[string]any{"error": "invalid", "message": "the body is too large"})
}

// known serves a request at once whose sender the route knows, and others as open ones.
func (o openRoutes) known(route Route) http.Handler {
	others := o.admit(route.Handler, cmp.Or(route.MaxBody, maxOpenBody))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route.Known(r) && recognized(r) {
			route.Handler.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}
