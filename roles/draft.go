package roles

import (
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Draft is a template that a role proposes (role seed §4.9). It can be used once the owner
// approved it.
type Draft struct {
	ID         string               `json:"id"`
	TemplateID string               `json:"template_id"`
	Proposed   string               `json:"proposed_by"`
	Intent     string               `json:"intent"`
	Template   schemas.RoleTemplate `json:"template"`
	Reasoning  string               `json:"reasoning,omitempty"`
	AskID      string               `json:"ask_id"` // that waits in the review queue
	State      schemas.ReviewState  `json:"status"`
	At         string               `json:"at"`
}

// draftWithin is how long a draft waits for the owner.
const draftWithin = 14 * 24 * time.Hour

// Propose keeps a template that a role designed, for the owner's approval. Its spawner is who
// proposed it, and what exceeds that role is shown with it. CodeInvalid lists what is wrong
// with the template.
func (r *Roles) Propose(g access.Grant, workspace string, d Draft) (Draft, error) {
	w, err := r.World(g, workspace)
	if err != nil {
		return d, err
	}
	m := w.byAgent[g.Actor()]
	if m == nil {
		return d, schemas.Deniedf("only a role of the workspace proposes a template").
			Try("the owner writes one into the file: cordelia role apply FILE")
	}
	return r.propose(g, w, m, d)
}

func (r *Roles) propose(g access.Grant, w *World, m *Member, d Draft) (Draft, error) {
	var bad []schemas.Violation
	if !roleName.MatchString(d.TemplateID) {
		bad = append(bad, schemas.Violation{Path: "/name", Msg: "must be 1–40 of a-z 0-9 -, starting with a letter"})
	}
	for field, text := range map[string]string{"/intent": d.Intent, "/reasoning": d.Reasoning} {
		if len(text) > maxText {
			bad = append(bad, schemas.Violation{Path: field, Msg: fmt.Sprintf("must have at most %d bytes", maxText)})
		}
	}
	if bad != nil {
		return d, schemas.Invalidf("the draft was not kept").With(bad...)
	}
	if _, taken := w.Workspace.RoleTemplates[d.TemplateID]; taken {
		return d, schemas.Conflictf("there is a template %s already", d.TemplateID).Try("choose another name")
	}
	d.Template.AllowedSpawners = []string{m.RoleID} // an agent cannot let another one spawn
	_, clamped := Clamp(d.Template, m.Role, w.Workspace.Policy)
	text, err := Format(schemas.Workspace{RoleTemplates: map[string]schemas.RoleTemplate{d.TemplateID: d.Template}})
	if err != nil {
		return d, err
	}
	d.ID = schemas.NewID()
	a := Ask{Workspace: w.Workspace.Workspace, Kind: schemas.AskDraft, Agent: m.Agent, Asked: w.Workspace.Owner,
		Title: fmt.Sprintf("%s proposes the template %s", m.RoleID, d.TemplateID), data: encoded(d.ID),
		Shows: []string{"intent: " + oneLine(d.Intent), "reasoning: " + oneLine(d.Reasoning)}, Then: schemas.ThenRefuse}
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if line != `workspace: ""` && line != `owner: ""` {
			a.Shows = append(a.Shows, line)
		}
	}
	for _, c := range clamped {
		a.Shows = append(a.Shows, "a child gets less: "+c)
	}
	if a, err = a.open(g, draftWithin); err != nil {
		return d, err
	}
	d.AskID, d.State, d.Proposed, d.At = a.ID, a.State, m.RoleID, events.Timestamp(a.At)
	if _, err := g.Tx().Exec(insertDraft, d.ID, a.Workspace, m.Agent, d.TemplateID, d.Intent, encoded(d.Template),
		d.Reasoning, a.ID, a.At); err != nil {
		return d, fmt.Errorf("write draft: %w", err)
	}
	return d, nil
}

// Drafts lists the drafts of the actor's workspaces, or of one, the newest of each first.
func (r *Roles) Drafts(g access.Grant, workspace string) (list []Draft, err error) {
	return list, r.each(g, workspace, func(w *World) error {
		of, err := drafts(g, w)
		list = append(list, of...)
		return err
	})
}

func drafts(g access.Grant, w *World) ([]Draft, error) {
	rows, err := g.Tx().Query(selectDrafts, w.Workspace.Workspace)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (d Draft, err error) {
		var template string
		var agent schemas.EntityID
		var at int64
		if err := r.Scan(&d.ID, &d.TemplateID, &d.Intent, &template, &d.Reasoning, &d.AskID, &d.State, &agent,
			&at); err != nil {
			return d, err
		}
		d.Proposed, d.At = string(agent), events.Timestamp(at)
		return d, unmarshal(template, &d.Template)
	})
	if err != nil {
		return nil, fmt.Errorf("read drafts: %w", err)
	}
	for i := range list {
		list[i].Proposed = w.nameOf(g, schemas.EntityID(list[i].Proposed))
	}
	return list, nil
}

// draftApproved puts an approved template among those of the workspace, and lets the role that
// proposed it spawn.
func (r *Roles) draftApproved(g access.Grant, w *World, a Ask) (string, error) {
	var id, name, text string
	if err := unmarshal(a.data, &id); err != nil {
		return "", err
	}
	if err := g.Tx().QueryRow(selectDraft, id).Scan(&name, &text); err != nil {
		return "", fmt.Errorf("read draft: %w", err)
	}
	if _, taken := w.Workspace.RoleTemplates[name]; taken {
		return "", schemas.Conflictf("there is a template %s by now", name).Try("reject the draft")
	}
	var t schemas.RoleTemplate
	if err := unmarshal(text, &t); err != nil {
		return "", err
	}
	spec := w.Workspace
	spec.RoleTemplates = map[string]schemas.RoleTemplate{name: t}
	maps.Copy(spec.RoleTemplates, w.Workspace.RoleTemplates)
	if _, err := g.Tx().Exec(updateWorkspace, encoded(spec), g.Tx().Micros(), w.Workspace.Workspace); err != nil {
		return "", fmt.Errorf("write workspace: %w", err)
	}
	if m := w.byAgent[a.Agent]; m != nil && !mayUse(w.Workspace, m.RoleID) {
		if err := r.letSpawn(g, m); err != nil {
			return "", err
		}
	}
	return "template " + name + " can be used by " + strings.Join(t.AllowedSpawners, ", "), nil
}
