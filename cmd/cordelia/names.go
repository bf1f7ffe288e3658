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
		id := string(found[1])
		if _, asked := w.known[id]; asked || len(w.known) >= mostNames {
			continue
		}
		if w.known == nil {
			w.known = map[string]string{}
		}
		w.known[id] = w.nameOf(ctx, id)
	}
}

// nameOf is the name of the agent with this id, "" if the caller may not know it.
func (w *acting) nameOf(ctx context.Context, id string) string {
	args, err := json.Marshal(map[string]string{"agent": id})
	if err != nil {
		return ""
	}
	answer, err := ops.Find("agent_list").Call(ctx, w.node, w.caller, args)
	if err != nil {
		return ""
	}
	raw, err := json.Marshal(answer)
	var v struct {
		Agents []struct {
			ID   string `json:"agent_id"`
			Name string `json:"name"`
		} `json:"agents"`
	}
	if err != nil || json.Unmarshal(raw, &v) != nil || len(v.Agents) != 1 || v.Agents[0].ID != id {
		return ""
	}
	return v.Agents[0].Name
}

// who is an entity by its name, if learn found that, else by the beginning of its id.
func (a *app) who(id string) string {
	if name := a.known[id]; name != "" {
		return clean(name)
	}
	return short(id)
}
