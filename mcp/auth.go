package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	strictjson "github.com/go-json-experiment/json"

	"cordelia/events"
	"cordelia/ops"
	"cordelia/roles"
	"cordelia/schemas"
)

// Bearer authenticates requests by the node's tokens.
func Bearer(n *ops.Service) func(ctx context.Context, bearer string) (Principal, error) {
	return func(ctx context.Context, bearer string) (Principal, error) {
		p, err := n.Authenticate(ctx, bearer)
		if err != nil {
			return Principal{}, err
		}
		return Principal{ID: string(p.Entity), Caller: ops.Caller{Principal: p}}, nil
	}
}

// Line lists the agents from the one directly under a person down to a principal.
func Line(n *ops.Service) func(ctx context.Context, p Principal) ([]string, error) {
	return func(ctx context.Context, p Principal) ([]string, error) {
		agents, err := n.LineOf(ctx, schemas.EntityID(p.ID))
		return schemas.Strings(agents), err
	}
}

// Routes are the node's endpoints besides /mcp: health, the webhooks of roles, and the two
// steps from a key to a token. They are no tools: a token must not pass through a model.
func Routes(n *ops.Service) map[string]Route {
	return map[string]Route{
		"GET /health": {Open: true, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			answer(w, http.StatusOK, map[string]any{"status": "ok"})
		})},
		"POST /hooks/{source}": {Open: true, MaxBody: roles.MaxHook, Handler: hooks(n)},
		"/hooks/{source}":      {Open: true, Handler: http.HandlerFunc(onlyPost)},
		"POST /auth/challenge": {Open: true,
			Handler: post(func(ctx context.Context, in challengeIn) (challengeOut, error) {
				if in.AgentID == "" {
					return challengeOut{},
						schemas.Invalidf("agent_id is missing").Expecting("the id of who wants a token")
				}
				if !schemas.IsAgentID(string(in.AgentID)) {
					return challengeOut{}, schemas.Invalidf("agent_id is not the id of an agent").
						Expecting("64 hex digits, as cordelia agent list --json shows them; a name is none")
				}
				c, err := n.Challenge(ctx, in.AgentID)
				return challengeOut{
					Message: c.SigningBytes(), Nonce: c.Nonce[:], Expires: c.ExpiresUnixMicro,
					NodeID: c.NodeID, Audience: c.Audience, Purpose: c.Purpose,
				}, err
			})},
		"POST /auth/token": {Open: true, Handler: post(func(ctx context.Context, in tokenIn) (tokenOut, error) {
			nonce, err := base64.StdEncoding.DecodeString(in.Nonce)
			if err != nil || len(nonce) != 32 {
				return tokenOut{}, schemas.Invalidf("nonce is not 32 bytes in base64").Try(
					"send the nonce of POST /auth/challenge unchanged")
			}
			signature, err := base64.StdEncoding.DecodeString(in.Signature)
			if err != nil {
				return tokenOut{}, schemas.Invalidf("signature is not base64").Try(
					"send the 64-byte Ed25519 signature of the challenge's message")
			}
			issued, err := n.Token(ctx, schemas.AuthChallenge{AgentID: in.AgentID, Nonce: [32]byte(nonce),
				ExpiresUnixMicro: in.Expires}, signature)
			if err != nil {
				return tokenOut{}, err
			}
			recognizedIn(ctx) // who proved a key is no stranger; without a place it goes on as one
			return tokenOut{Token: issued.Token.Reveal(), Type: "Bearer",
				ExpiresAt: events.Timestamp(issued.ExpiresAt)}, nil
		})},
	}
}

type challengeIn struct {
	AgentID schemas.EntityID `json:"agent_id"`
}

// challengeOut: sign Message (bytes, base64 in JSON) with the entity's key.
type challengeOut struct {
	Message  []byte              `json:"message"`
	Nonce    []byte              `json:"nonce"`
	Expires  int64               `json:"expires"` // UTC µs
	NodeID   string              `json:"node_id"`
	Audience string              `json:"audience"`
	Purpose  schemas.AuthPurpose `json:"purpose"`
}

type tokenIn struct {
	AgentID   schemas.EntityID `json:"agent_id"`
	Nonce     string           `json:"nonce"`
	Expires   int64            `json:"expires"`
	Signature string           `json:"signature"` // base64
}

type tokenOut struct {
	Token     string `json:"token"`
	Type      string `json:"type"`
	ExpiresAt string `json:"expires_at"`
}

// post serves one JSON question and answer.
func post[In, Out any](f func(context.Context, In) (Out, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := strictjson.UnmarshalRead(r.Body, &in, strictjson.RejectUnknownMembers(true)); err != nil {
			answer(w, http.StatusBadRequest, map[string]any{"error": "invalid",
				"message":  "the body is not the JSON object expected here",
				"expected": fmt.Sprintf("an object with %s", strings.Join(fieldsOf[In](), ", "))})
			return
		}
		out, err := f(r.Context(), in)
		if err == nil {
			answer(w, http.StatusOK, out)
			return
		}
		e, ok := errors.AsType[*schemas.Error](err)
		if !ok {
			e = schemas.Errorf(schemas.CodeInternal, "an internal error")
		}
		status := http.StatusInternalServerError
		switch e.Code {
		case schemas.CodeInvalid:
			status = http.StatusBadRequest
		case schemas.CodeUnauthenticated:
			status = http.StatusUnauthorized
		case schemas.CodeBusy, schemas.CodeUnavailable:
			status = http.StatusServiceUnavailable
		}
		answer(w, status, map[string]any{"error": e.Code, "message": e.Msg, "expected": e.Expected, "next": e.Hint})
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // the client is gone
}

// fieldsOf lists the fields of a question.
func fieldsOf[In any]() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}
