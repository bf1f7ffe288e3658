package controller

import (
	"cordelia/schemas"
	"cordelia/trust"
)

// rate lets what became of a role's work count for how well its holder fills it. It
// never says anything of how true what somebody writes is.
func (u *turn) rate(who schemas.EntityID, role schemas.PipelineRole, success bool, f trust.Feedback) error {
	if !schemas.IsAgentID(string(who)) {
		return nil
	}
	_, err := trust.Outcome(u.g, who, schemas.SkillOf(string(role)), success, f)
	return err
}

// credit counts an accepted result for who planned its round and who merged it.
func (u *turn) credit() error {
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
		if err := u.rate(last[role], role, true, ""); err != nil {
			return err
		}
	}
	return nil
}
