package controller

import (
	"cordelia/access"
	"cordelia/schemas"
	"cordelia/trust"
)

// rate lets what became of a role's work count for how well its holder fills it. It
// never says anything of how true what somebody writes is.
func (u *turn) rate(who schemas.EntityID, role schemas.PipelineRole, success bool, f trust.Feedback) error {
	return rated(u.g, who, role, success, f)
}

// rated is rate by the word of whoever's grant this is.
func rated(g access.Grant, who schemas.EntityID, role schemas.PipelineRole, success bool, f trust.Feedback) error {
	if !schemas.IsAgentID(string(who)) {
		return nil
	}
	_, err := trust.Outcome(g, who, schemas.SkillOf(string(role)), success, f)
	return err
}

// credit counts an accepted result for who planned its round and who merged it.
func (u *turn) credit() error { return u.answerable(u.g, true, "") }

// blame counts a result that a person rejects, as their word, against who planned its
// round and who merged it. Nobody else's word does: see docs/decisions.md.
func (u *turn) blame(person access.Grant) error { return u.answerable(person, false, trust.Bad) }

// answerable rates who planned the present round and who merged it.
func (u *turn) answerable(by access.Grant, success bool, f trust.Feedback) error {
	list, err := seats(u.g, u.t)
	if err != nil {
		return err
	}
	last := map[schemas.PipelineRole]schemas.EntityID{}
	for _, s := range list {
		if s.state == schemas.WorkDone {
			last[s.role] = s.holder
		}
	}
	for _, role := range []schemas.PipelineRole{schemas.Planner, schemas.MetaValidator} {
		if err := rated(by, last[role], role, success, f); err != nil {
			return err
		}
	}
	return nil
}
