package main

import (
	"context"
	"encoding/json"
	"regexp"

	"cordelia/ops"
)

// agentIDs finds the ids of agents in an answer, as JSON strings.
var agentIDs = regexp.MustCompile(`"([0-9a-f]{64})"`)

// mostNames bounds the names looked up for one answer.
const mostNames = 100

// learn looks up the names of the agents whose ids an answer holds, as far as whoever
// is at the terminal may name them. What it cannot find stays an id.
func (w *acting) learn(ctx context.Context, answer []byte) {
	seen, err := w.node.Visible(ctx, w.caller, nil)
	if err != nil || !seen["agent_list"] { // a look that is refused would be in the record
		return
	}
	for _, found := range agentIDs.FindAllSubmatch(answer, -1) {
		w.learnName(ctx, string(found[1]))
	}
}

// learnName looks up the name of one agent.
func (w *acting) learnName(ctx context.Context, id string) {
	if _, asked := w.known[id]; asked || len(w.known) >= mostNames {
		return
	}
	if w.known == nil {
		w.known = map[string]string{}
	}
	w.known[id] = w.nameOf(ctx, id)
}

// nameOf is the name of the agent with this id, "" if the caller may not know it.
func (w *acting) nameOf(ctx context.Context, id string) string {
	v, err := w.agents(ctx, map[string]any{"agent": id})
	if err != nil || len(v.Agents) != 1 || v.Agents[0].AgentID != id {
		return ""
	}
	return v.Agents[0].Name
}

// agents is what agent_list answers whoever is at the terminal, whomever they act as.
func (w *acting) agents(ctx context.Context, in map[string]any) (v agentsView, err error) {
	args, err := json.Marshal(in)
	if err != nil {
		return v, err
	}
	answer, err := ops.Find("agent_list").Call(ctx, w.node, w.caller, args)
	if err != nil {
		return v, err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(raw, &v)
}

// who is an entity by its name, if learn found that, else by the beginning of its id.
func (a *app) who(id string) string {
	if name := a.known[id]; name != "" {
		return clean(name)
	}
	return short(id)
}
