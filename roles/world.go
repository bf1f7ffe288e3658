package roles

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"cordelia/schemas"
)

// Member is a role as decisions see it.
type Member struct {
	schemas.Role
	Agent    schemas.EntityID
	State    schemas.RoleStatus // suspended while its agent or its parent is, in any state of the role
	Own      schemas.RoleStatus // its state, however its agent and its parent stand
	AgentIs  schemas.AgentStatus
	Why      string           // it is suspended
	Back     string           // the command that lets it act, "" if it does
	Parent   schemas.EntityID // the role that spawned it, "" for one of the file
	Template string           // it was made from
	Created  int64            // UTC µs, as all times here
}

// World is a workspace as decisions see it. It never changes once it is made.
type World struct {
	Workspace schemas.Workspace // without its roles
	Members   []*Member         // in the order of their ids

	byID    map[string]*Member
	byAgent map[schemas.EntityID]*Member
	owners  map[ownership][]*Member
}

// ownership is a domain with the state of the roles that own it.
type ownership struct {
	state  schemas.RoleStatus
	domain string
}

// NewWorld makes a world of these members.
func NewWorld(w schemas.Workspace, members []*Member) *World {
	v := &World{Workspace: w, Members: members, byID: map[string]*Member{},
		byAgent: map[schemas.EntityID]*Member{}, owners: map[ownership][]*Member{}}
	v.Workspace.Roles = nil
	slices.SortFunc(v.Members, func(a, b *Member) int { return cmp.Compare(a.RoleID, b.RoleID) })
	for _, m := range v.Members {
		if m.State == schemas.RoleTerminated {
			continue
		}
		v.byID[m.RoleID], v.byAgent[m.Agent] = m, m
		for _, d := range m.Domains {
			at := ownership{m.State, d}
			v.owners[at] = append(v.owners[at], m)
		}
	}
	return v
}

// Of finds a role that has not ended by its id or its agent, nil if there is none.
func (w *World) Of(ref string) *Member {
	if m := w.byID[ref]; m != nil {
		return m
	}
	return w.byAgent[schemas.EntityID(ref)]
}

// Owners lists the roles that own a domain and act, in the order in which they are asked:
// active ones before those in testing, which take nothing away from them; those that name the
// domain before those that own all; then by id.
func (w *World) Owners(domain string) (list []*Member) {
	for _, state := range []schemas.RoleStatus{schemas.RoleActive, schemas.RoleTesting} {
		if domain != "*" {
			list = append(list, w.owners[ownership{state, domain}]...)
		}
		list = append(list, w.owners[ownership{state, "*"}]...)
	}
	return list
}

// owns reports whether a domain is m's; no domains own nothing.
func (m *Member) owns(domain string) bool {
	return slices.Contains(m.Domains, domain) || slices.Contains(m.Domains, "*")
}

// unowned says of a domain that no role which acts owns it, and which one that does not act does.
func (w *World) unowned(domain string) string {
	text := "no active role owns " + domain
	for _, m := range w.Members {
		if m.owns(domain) && !m.State.Acts() {
			return text + "; " + m.standing()
		}
	}
	return text
}

// standing says how a role stands and, if it does not act, why and what lets it.
func (m *Member) standing() string {
	text := m.RoleID + " is " + string(m.State)
	if m.Why != "" {
		text += ": " + m.Why
	}
	if m.Back != "" {
		text += "; a person lets it act: " + m.Back
	}
	return text
}

// First is the role that an event which names none goes to: of those that own its domain and
// wake for it the first that has something done for such events, else the first; one in testing
// only where none is active. nil if there is none.
func (w *World) First(e Event) *Member {
	var first *Member
	for _, m := range w.Owners(e.Domain) {
		if cmp.Or(m.Wake, schemas.WakeAlways) != schemas.WakeAlways {
			continue
		}
		if first != nil && m.State != first.State {
			return first
		}
		if _, action := w.trigger(m, e.Type); action != "" {
			return m
		}
		if first == nil {
			first = m
		}
	}
	return first
}

// directive is the operator of what directives ask for.
const directive = "directive"

// trigger finds the operator and the action of m that an event type triggers: an exact type
// before a pattern, then in the order of the role's operators and of the actions' names.
func (w *World) trigger(m *Member, event string) (operator, action string) {
	if action := directed(event); action != "" {
		return directive, action
	}
	for _, exact := range []bool{true, false} {
		for _, id := range m.OperatorIDs {
			o, ok := w.Workspace.Operators[id]
			if !ok {
				continue
			}
			for _, a := range slices.Sorted(maps.Keys(o.Triggers)) {
				for _, pattern := range o.Triggers[a] {
					if exact && pattern == event || !exact && matches(pattern, event) {
						return id, a
					}
				}
			}
		}
	}
	return "", ""
}

// matches reports whether a type is one of a pattern: * stands for one part of it, and at the
// end for all that is left.
func matches(pattern, event string) bool {
	for pattern != "" && event != "" {
		p, restP, moreP := strings.Cut(pattern, ".")
		e, restE, moreE := strings.Cut(event, ".")
		if p == "*" && !moreP {
			return true
		}
		if p != "*" && p != e || moreP != moreE {
			return false
		}
		pattern, event = restP, restE
	}
	return pattern == "" && event == ""
}

// authorityOn says what a charter says of an action or, where it does not name that, of
// the type of event; an action it does not know needs an approval.
func authorityOn(a schemas.Authority, action, event string) (level, why string) {
	for _, name := range []string{action, event} {
		switch {
		case name == "":
		case slices.Contains(a.Forbidden, name):
			return forbidden, name + " is forbidden"
		case slices.Contains(a.NeedsApproval, name):
			return needsApproval, name + " needs an approval"
		case slices.Contains(a.Autonomous, name):
			return autonomous, name + " is autonomous"
		}
	}
	return needsApproval, "no authority names " + cmp.Or(action, event) + ", so it needs an approval"
}

// The levels of authority.
const (
	autonomous    = "autonomous"
	needsApproval = "needs_approval"
	forbidden     = "forbidden"
)
