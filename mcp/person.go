package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/ops"
	"cordelia/schemas"
)

// personKey names the question to a person among a call's inputs.
const personKey = "person"

// Bounds of what is asked of a person at once.
const (
	askedMatters = 5
	askedName    = 120 // bytes
	// keptRefusals is how many refusals a node's face remembers.
	keptRefusals = 4096
)

// refusals are the questions that a user refused, by caller and session: a refusal is final
// there. All callers of a face share one limit, and no caller can push out another's refusals:
// when it is reached, the caller with the most loses its oldest.
type refusals struct {
	mu    sync.Mutex
	known map[refusedMatter]bool
	order map[schemas.EntityID][]refusedMatter // a caller's, the oldest first
}

type refusedMatter struct {
	entity      schemas.EntityID
	session, id string
}

func (r *refusals) add(c ops.Caller, matters []ops.ReviewItem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known, r.order = map[refusedMatter]bool{}, map[schemas.EntityID][]refusedMatter{}
	}
	for _, m := range matters {
		one := refusedMatter{c.Entity, c.Session, m.ID}
		if r.known[one] {
			continue
		}
		r.known[one], r.order[c.Entity] = true, append(r.order[c.Entity], one)
		if len(r.known) > keptRefusals {
			r.forget(c.Entity)
		}
	}
}

// forget drops the oldest refusal of the caller with the most: of first, where others have as
// many.
func (r *refusals) forget(first schemas.EntityID) {
	most := first
	for who, theirs := range r.order {
		if len(theirs) > len(r.order[most]) {
			most = who
		}
	}
	theirs := r.order[most]
	delete(r.known, theirs[0])
	if r.order[most] = theirs[1:]; len(theirs) == 1 {
		delete(r.order, most)
	}
}

func (r *refusals) any(c ops.Caller, matters []ops.ReviewItem) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range matters {
		if r.known[refusedMatter{c.Entity, c.Session, m.ID}] {
			return true
		}
	}
	return false
}

// consulted reads what the client answered for its user: accept, or cancel for all
// else; "" if it was not asked. It decides nothing (INV-ASKED): the client serves the agent that wants the decision, so
// the node only looks what the person did with their own key.
func consulted(req sdk.CallToolRequest) sdk.ElicitationResponseAction {
	if _, asked := req.Params.InputResponses[personKey]; !asked {
		return ""
	}
	answer := sdkserver.ElicitationResponse(req.Params.InputResponses, personKey)
	if answer == nil || answer.Action != sdk.ElicitationResponseActionAccept {
		return sdk.ElicitationResponseActionCancel
	}
	return answer.Action
}

// askPerson answers a call that waits for a person: with a question to the user where
// the client can ask, and their refusal is not known; else with the refusal of the call.
func (b *binding) askPerson(ctx context.Context, c ops.Caller, o *ops.Operation, req sdk.CallToolRequest,
	needs ops.NeedsPerson) *sdk.CallToolResult {
	switch consulted(req) {
	case sdk.ElicitationResponseActionAccept:
		return b.failed(o, schemas.Deniedf("the user has not decided yet").
			Try("go on with other work; %s again once the user says that it is decided", schemas.Do(o.Name)))
	case sdk.ElicitationResponseActionCancel:
		b.refused.add(c, needs.Matters)
	}
	if b.refused.any(c, needs.Matters) {
		return b.failed(o, schemas.Deniedf("the user leaves this undecided, and is not asked again in this session").
			Try("go on without it; it waits in %s, and the user decides with cordelia review",
				schemas.Tool("review_list")))
	}
	if ClientCapabilities(ctx).Elicitation == nil {
		return b.failed(o, needs.Err)
	}
	return sdkserver.NewInputRequestBuilder("").Elicit(personKey, sdk.ElicitationParams{
		Message: question(needs),
		// Nothing is asked that a client could answer for the user.
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}).ToolResult()
}

// question says to a person what waits for them, and how they decide.
func question(needs ops.NeedsPerson) string {
	var b strings.Builder
	b.WriteString("This needs your decision:\n")
	for i, m := range needs.Matters {
		if i == askedMatters {
			fmt.Fprintf(&b, "and %d more\n", len(needs.Matters)-i)
			break
		}
		fmt.Fprintf(&b, "- “%s”, by %s: cordelia review show %s\n", schemas.Shorten(ops.Line(m.Name), askedName),
			ops.Line(m.Author), m.ID)
	}
	b.WriteString("Decide with your own key, in a terminal: cordelia review. Then accept.\n" +
		"Your answer here decides nothing. Decline to leave it undecided for this session.")
	return b.String()
}
