package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

// sayNamesakes says after a registration that other agents have the name of the new one, and which
// of them --as means by it: parents give names without knowing of each other. It sees the agents
// that the caller may list, and the one that --as means.
func sayNamesakes(ctx context.Context, w *cli.Acting, answer any) {
	made, err := cli.OutputOf[ops.AgentRegisterOut](answer)
	if err != nil {
		return
	}
	others := slices.DeleteFunc(called(ctx, w, made.Name),
		func(g ops.AgentRow) bool { return g.AgentID == made.AgentID })
	means, err := meant(ctx, w, made.Name)
	if means != "" && means != made.AgentID && !slices.ContainsFunc(others,
		func(g ops.AgentRow) bool { return g.AgentID == means }) {
		others = append(others, ops.AgentRow{AgentID: means})
	}
	if len(others) == 0 && !errors.Is(err, schemas.ErrConflict) {
		return
	}
	name, rest := cli.Clean(made.Name), "name them by their ids"
	if means != "" || errors.Is(err, schemas.ErrConflict) {
		rest = "--as " + name + " means " + asMeans(means, made.AgentID, len(others))
	}
	w.Note("%s; %s", alsoCalled(w, name, others), rest)
}

// alsoCalled lists the others of a name; none where only the node knows that there are.
func alsoCalled(w *cli.Acting, name string, others []ops.AgentRow) string {
	if len(others) == 0 {
		return "another agent is called " + name
	}
	var list []string
	for _, g := range others {
		who := cli.Short(g.AgentID)
		if g.Parent != "" {
			who += ", below " + w.Who(g.Parent)
		}
		list = append(list, who)
	}
	if len(list) == 1 {
		return "another agent is called " + name + ": " + list[0]
	}
	return "other agents are called " + name + ": " + strings.Join(list, "; ")
}

// asMeans says which agent --as means by a name that several have, and how to name the others.
func asMeans(means, made schemas.EntityID, others int) string {
	switch {
	case means == "":
		return "none of them, name them by their ids"
	case others > 1 && means == made:
		return "the new one, name the others by their ids"
	case others > 1:
		return cli.Short(means) + ", name the others by their ids"
	case means == made:
		return "the new one, name the other by its id"
	}
	return "that one, name the new one by its id"
}

// called lists the agents of a name that the caller may list, those it can
// find. A removed one has its name no more.
func called(ctx context.Context, w *cli.Acting, name string) (list []ops.AgentRow) {
	seen, err := w.Node.Visible(ctx, w.Caller, nil)
	if err != nil || !seen["agent_list"] { // a look that is refused would be in the record
		return nil
	}
	for cursor := ""; ; {
		page, err := w.Agents(ctx, map[string]any{"include_ended": true, "limit": 100, "cursor": cursor})
		if err != nil {
			return list
		}
		for _, g := range page.Agents {
			if g.Name == name && g.Status != schemas.Removed {
				w.LearnName(ctx, g.Parent)
				list = append(list, g)
			}
		}
		if cursor = page.Cursor; cursor == "" {
			return list
		}
	}
}

// meant is the id of the agent that --as means by a name, found as act finds it. Errors:
// CodeConflict if it is none of several.
func meant(ctx context.Context, w *cli.Acting, name string) (schemas.EntityID, error) {
	file, err := w.Node.OpenIdentity(ctx, name)
	if err == nil {
		file.Identity.Erase()
		return file.EntityID, nil
	}
	if !errors.Is(err, schemas.ErrNotFound) || schemas.IsAgentID(string(w.Caller.Entity)) { // act looks as the person
		return "", err
	}
	v, err := w.Agents(ctx, map[string]any{"agent": name})
	if err != nil || len(v.Agents) != 1 {
		return "", err
	}
	return v.Agents[0].AgentID, nil
}
