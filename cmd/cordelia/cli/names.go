package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"cordelia/ops"
	"cordelia/schemas"
)

// agentIDs finds the ids of agents in an answer, as JSON strings.
var agentIDs = regexp.MustCompile(`"([0-9a-f]{64})"`)

// mostNames bounds the names looked up for one answer.
const mostNames = 100

// Learn looks up the names of the agents whose ids an answer holds, as far as the
// caller may name them. What it cannot find stays an id.
func (w *Acting) Learn(ctx context.Context, answer any) error {
	seen, err := w.Node.Visible(ctx, w.Caller, nil)
	if err != nil || !seen["agent_list"] { // a look that is refused would be in the record
		return nil
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("read the names in an answer: %w", err)
	}
	for _, found := range agentIDs.FindAllSubmatch(raw, -1) {
		w.LearnName(ctx, schemas.EntityID(found[1]))
	}
	return nil
}

// LearnFrom looks up the names of those that v names.
func (w *Acting) LearnFrom(ctx context.Context, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		for _, id := range TargetIDs.FindAllString(string(raw), -1) {
			w.LearnName(ctx, schemas.EntityID(id))
		}
	}
	return err
}

// LearnName looks up the name of one agent, as far as the caller may know it.
func (w *Acting) LearnName(ctx context.Context, id schemas.EntityID) {
	if _, asked := w.known[id]; asked || len(w.known) >= mostNames {
		return
	}
	v, err := w.Agents(ctx, map[string]any{"agent": id})
	if err != nil || len(v.Agents) != 1 || v.Agents[0].AgentID != id {
		v.Agents = []ops.AgentRow{{AgentID: id}}
	}
	w.learnAgent(ctx, v.Agents[0])
}

// learnAgent records the name of an agent. Of two with the same name it shows parent/name, as
// arguments take it.
func (w *Acting) learnAgent(ctx context.Context, g ops.AgentRow) {
	if w.known == nil {
		w.known, w.parents = map[schemas.EntityID]string{}, map[schemas.EntityID]schemas.EntityID{}
	}
	w.known[g.AgentID], w.parents[g.AgentID] = g.Name, g.Parent
	if g.Name == "" {
		return
	}
	var alike []schemas.EntityID
	for id, name := range w.known {
		if name == g.Name || strings.HasSuffix(name, "/"+g.Name) {
			alike = append(alike, id)
		}
	}
	for _, id := range alike {
		if len(alike) > 1 && w.known[id] == g.Name && w.parents[id] != "" {
			w.LearnName(ctx, w.parents[id])
			w.known[id] = w.Who(w.parents[id]) + "/" + g.Name
		}
	}
}

// Agents is what agent_list answers the caller itself, also where it acts as another agent.
func (w *Acting) Agents(ctx context.Context, in map[string]any) (v ops.AgentListOut, err error) {
	args, err := json.Marshal(in)
	if err != nil {
		return v, err
	}
	answer, err := ops.Find("agent_list").Call(ctx, w.Node, w.Caller, args)
	if err != nil {
		return v, err
	}
	return OutputOf[ops.AgentListOut](answer)
}

// Named is a text with the names of the agents whose ids are in it, as far as learned, and
// the short forms of other ids.
func (a *App) Named(text string) string {
	return schemas.ShortIDs(TargetIDs.ReplaceAllStringFunc(Clean(text),
		func(id string) string { return a.Who(schemas.EntityID(id)) }))
}

// TargetIDs finds the ids of agents in a text.
var TargetIDs = regexp.MustCompile(`[0-9a-f]{64}`)

// Who is an entity by its name, if learn found that, else by the beginning of its id.
func (a *App) Who(id schemas.EntityID) string {
	if name := a.known[id]; name != "" {
		return Clean(name)
	}
	return Short(id)
}
