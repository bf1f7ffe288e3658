package review

import (
	"errors"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// decideHeld decides over a held result (package work), and lets the decision count
// for how well its author works.
func decideHeld(g access.Grant, d Decision, _ bool) (out Decided, none row, err error) {
	s, err := work.Show(g, d.ID, false)
	if errors.Is(err, schemas.ErrNotFound) || err == nil && s.State != schemas.WorkHeld {
		return out, none, nothingWaits(d.ID)
	}
	if err != nil {
		return out, none, err
	}
	state, err := work.Decide(g, d.ID, d.Hash, d.Approve)
	if err != nil {
		return out, none, err
	}
	role, feedback := schemas.SkillOf(s.Role), trust.Bad
	if d.Approve {
		feedback = trust.Good
	}
	if holder := s.HolderID; holder != "" {
		if _, err := trust.Note(g, trust.Outcome{Agent: holder, Capability: role, Success: d.Approve, Feedback: feedback,
			About: d.ID}); err != nil {
			return out, none, err
		}
	}
	return Decided{ID: d.ID, State: string(state)}, none, nil
}
