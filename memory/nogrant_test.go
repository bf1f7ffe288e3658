package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// A grant that nobody gave is refused, whatever it is taken to, and breaks nothing.
func TestNoGrant(t *testing.T) {
	var none access.Grant
	item, group, who := schemas.ItemID("x"), schemas.GroupID("g"), ada
	list := []schemas.ItemID{item}
	second := func(_ any, err error) error { return err }
	for name, call := range map[string]func() error{
		"Bind":              func() error { return second(Bind(none, "/x", group)) },
		"Unbind":            func() error { return Unbind(none, "/x") },
		"Bindings":          func() error { return second(Bindings(none)) },
		"CarryBindings":     func() error { return CarryBindings(none, []Bound{{}}) },
		"CarryDecisions":    func() error { return CarryDecisions(none, Decisions{}) },
		"OpenKept":          func() error { return second(OpenKept(none, who, "")) },
		"Take":              func() error { return second(Take(none, []Incoming{{}})) },
		"TakeGroup":         func() error { return second(TakeGroup(none, GroupRecord{})) },
		"CreateGroup":       func() error { return CreateGroup(none, NewGroup{ID: group}) },
		"ListGroups":        func() error { return second(ListGroups(none)) },
		"ReadGroup":         func() error { return second(ReadGroup(none, group)) },
		"UpdateGroup":       func() error { return second(UpdateGroup(none, group, GroupPatch{})) },
		"AddMember":         func() error { return second(AddMember(none, group, "x", "member")) },
		"RemoveMember":      func() error { return second(RemoveMember(none, group, "x")) },
		"Leave":             func() error { return Leave(none, group, who) },
		"FoundSwarmGroup":   func() error { return FoundSwarmGroup(none, SwarmGroupOf{}) },
		"Enter":             func() error { return Enter(none, group, who, "member") },
		"Archive":           func() error { return Archive(none, group) },
		"HandOn":            func() error { _, _, err := HandOn(none, list, group, group, 0); return err },
		"CountFindings":     func() error { return second(CountFindings(none, nil, nil)) },
		"Unmerged":          func() error { return second(Unmerged(none, nil, nil, item)) },
		"Headlines":         func() error { return second(Headlines(none, nil, 1)) },
		"Progress":          func() error { return second(Progress(none, nil)) },
		"Hide":              func() error { return second(Hide(none, "x", "y")) },
		"Unhide":            func() error { return second(Unhide(none, "x")) },
		"Find":              func() error { return second(Find(none, &Query{})) },
		"CreateStaging":     func() error { return CreateStaging(none, group, who, who) },
		"CloseStaging":      func() error { return CloseStaging(none, group) },
		"Stage":             func() error { return second(Stage(none, group, &Draft{})) },
		"Approve":           func() error { return second(Approve(none, item, group)) },
		"StandingIn":        func() error { return second(StandingIn(none, item, group)) },
		"Discard":           func() error { return Discard(none, list) },
		"WriteArchive":      func() error { return WriteArchive(none, who, schemas.SessionRecord{}) },
		"WriteSwarmArchive": func() error { return WriteSwarmArchive(none, group, who, who, schemas.SessionRecord{}) },
		"Remove":            func() error { return second(Remove(none, item, Bury)) },
		"Get":               func() error { return second(Get(none, list)) },
		"History":           func() error { return second(History(none, item)) },
		"Release":           func() error { return Release(none, item, 1, true) },
		"Held":              func() error { return second(Held(none)) },
		"Share":             func() error { return second(Share(none, item, group)) },
		"Taint":             func() error { return Taint(none, access.Principal{}) },
		"CarryTaint":        func() error { return CarryTaint(none, access.Principal{}) },
		"Tainted":           func() error { return second(Tainted(none)) },
		"Put":               func() error { return second(Put(none, &Draft{})) },
		"Carry": func() error {
			_, _, err := Carry(none,
				[]schemas.MemoryWritten{{GroupID: group}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { require.Error(t, call()) })
	}
}
