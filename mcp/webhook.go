package mcp

import (
	"errors"
	"io"
	"log/slog"
	"net/http"

	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

// hooks takes the requests of webhooks. What it answers says nothing of what was decided: the
// source learns whether it was taken.
func hooks(n *ops.Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "invalid", "message": "the body did not arrive"})
			return
		}
		n.Called()
		taken, skip, err := n.ReceiveHook(r.Context(), roles.Hook{Source: r.PathValue("source"), Header: r.Header.Get,
			Body: body})
		switch {
		case err == nil && skip != "":
			answer(w, http.StatusAccepted, map[string]any{"status": "ignored", "why": skip})
		case err == nil && taken.Repeated:
			answer(w, http.StatusOK, map[string]any{"status": "repeated", "event_id": taken.EventID})
		case err == nil:
			answer(w, http.StatusAccepted, map[string]any{"status": "taken", "event_id": taken.EventID})
		default:
			refuseHook(w, err)
		}
	})
}

// onlyPost answers a request that is none of a source, as of a person who looks at the address.
func onlyPost(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	answer(w, http.StatusMethodNotAllowed, map[string]any{"error": "invalid", "message": "a source sends POST here"})
}

// refuseHook answers a request that was not taken. The source tries again where that may help.
func refuseHook(w http.ResponseWriter, err error) {
	status, message := http.StatusInternalServerError, "an internal error"
	if bad, ok := errors.AsType[*schemas.Error](err); ok {
		message = bad.Msg
		switch bad.Code {
		case schemas.CodeUnauthenticated:
			status = http.StatusUnauthorized
		case schemas.CodeInvalid:
			status = http.StatusBadRequest
		case schemas.CodeConflict:
			status = http.StatusConflict
		case schemas.CodeBusy, schemas.CodeUnavailable:
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "5")
		}
	}
	if status == http.StatusInternalServerError {
		slog.Warn("webhook", "err", err)
	}
	answer(w, status, map[string]any{"error": schemas.CodeOf(err), "message": message})
}
