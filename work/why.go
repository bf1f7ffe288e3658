package work

import (
	"errors"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/schemas"
)

// WhyNot says why the actor gets nothing of the work it named, "" if there is no more to say than
// that none is ready; never means that waiting changes nothing. It says nothing of work that
// the actor does not see.
func WhyNot(g access.Grant, want Wanted) (why string, never bool, err error) {
	switch {
	case want.Work != "":
		s, err := view(g, want.Work)
		if errors.Is(err, schemas.ErrNotFound) {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		return s.whyNot(g, want)
	case want.Task != "":
		return whyNoneOf(g, want)
	case want.Group != "":
		writable, err := g.WritableGroups()
		if err != nil || slices.Contains(writable, want.Group) {
			return "", false, err
		}
		return fmt.Sprintf("you may only read in %s, and its work is for those who write there", want.Group), true, nil
	}
	return "", false, nil
}

// shownOfTask is how many items of a task are looked at for a reason.
const shownOfTask = 50

// whyNoneOf gives the reason of the item of a task that is nearest to be taken.
func whyNoneOf(g access.Grant, want Wanted) (why string, never bool, err error) {
	items, err := List(g, Filter{Task: want.Task, Limit: shownOfTask})
	if errors.Is(err, schemas.ErrNotFound) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for _, state := range []schemas.WorkState{schemas.WorkReady, schemas.WorkLeased, schemas.WorkWaiting, schemas.WorkHeld,
		schemas.WorkBlocked} {
		at := slices.IndexFunc(items, func(s Status) bool {
			return s.State == state && (want.Role == "" || s.Role == want.Role)
		})
		if at < 0 {
			continue
		}
		s, err := view(g, items[at].WorkID)
		if err != nil {
			return "", false, err
		}
		why, _, err := s.whyNot(g, want)
		return why, false, err // more of the task may come
	}
	return "", false, nil
}

// whyNot says why the actor does not get an item.
func (s *seen) whyNot(g access.Grant, want Wanted) (why string, never bool, err error) {
	switch s.state {
	case schemas.WorkLeased:
		return fmt.Sprintf("held by %s, for %d s more unless it calls", s.name,
			s.status(g.Tx().Micros(), false).LeaseLeft), false, nil
	case schemas.WorkWaiting:
		if s.blockers == 0 {
			return "it is not due yet", false, nil
		}
		return "it waits for " + schemas.Count(s.blockers, "item", "items"), false, nil
	case schemas.WorkHeld:
		return "a person looks at its result", false, nil
	case schemas.WorkBlocked:
		return "it waits for a person", false, nil
	case schemas.WorkReady:
		return s.whyReadyNot(g, want)
	}
	if s.outcome == string(schemas.WorkOverdue) {
		return "it failed: its deadline was over", true, nil
	}
	return "it is " + string(s.state), true, nil
}

// whyReadyNot says what of an item's class keeps the actor from it.
func (s *seen) whyReadyNot(g access.Grant, want Wanted) (why string, never bool, err error) {
	var l class
	if err := g.Tx().QueryRow(selectClass, s.class).Scan(l.dest()...); err != nil {
		return "", false, fmt.Errorf("read eligibility class: %w", err)
	}
	if want.Role != "" && want.Role != l.role {
		return fmt.Sprintf("its role is %q", l.role), true, nil
	}
	if l.assigned != "" && l.assigned != g.Actor() {
		return "it is for " + s.assigned + " alone", true, nil
	}
	if may, err := g.Could(g.Actor(), claimTools(), l.requires()...); err != nil {
		return "", false, err
	} else if !may {
		return "its group's work is for those who may write there, and you may not", true, nil
	}
	if may, err := eligible(g, g.Chain(), l.needs, "[]"); err != nil {
		return "", false, err
	} else if !may {
		return "it takes tools that you lack: " + l.needs, true, nil
	}
	apart, err := eligible(g, g.Chain(), "[]", l.excluded)
	if err != nil || apart {
		return "", false, err
	}
	return "another agent takes it, for you, or an agent above or below you, had another part in it or gave it back",
		true, nil
}
