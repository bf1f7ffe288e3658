package trust

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// bring moves an agent of ann's to a tier, by real verdicts of hers.
func (n *node) bring(agent schemas.EntityID, to schemas.Tier) {
	n.Helper()
	word := Right
	if higher(n.standing(agent).Tier, to) {
		word = Wrong
	}
	for i := 0; n.standing(agent).Tier != to; i++ {
		require.Less(n, i, windowSize, "no tier %s", to)
		v := wrote(agent, i)
		v.ID = schemas.ItemID(fmt.Sprintf("bring-%s-%s-%d", to, agent[:8], i))
		n.assess(ann, Verdict{On: v, Word: word})
	}
}

func (n *node) need(who schemas.EntityID, needs ...access.Need) error {
	return n.do(who, access.Write, func(g access.Grant) error { return g.Need(needs...) })
}

func may(err error) bool { return err == nil }

// What an agent of each type and tier may do with each kind of memory, as the
// authorizer decides it after real verdicts.
func TestScopingMatrix(t *testing.T) {
	kinds := []struct {
		name string
		of   func(a schemas.EntityID) access.Need
	}{
		{"L1 own", func(a schemas.EntityID) access.Need { return access.Need{Layer: schemas.L1, Owner: a} }},
		{"L1 other", func(schemas.EntityID) access.Need { return access.Need{Layer: schemas.L1, Owner: ann} }},
		{"private own", func(a schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Private, Owner: a}
		}},
		{"private granted", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Private, Owner: ann}
		}},
		{"private other", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Private, Owner: solo}
		}},
		{"group", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Group, Group: "plain"}
		}},
		{"swarm", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Group, Group: "swarm"}
		}},
		{"approved", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Group, Group: "approved"}
		}},
		{"bonus", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Group, Group: "bonus"}
		}},
		{"no member", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Group, Group: "closed"}
		}},
		{"public", func(schemas.EntityID) access.Need {
			return access.Need{Layer: schemas.L2, Visibility: schemas.Public}
		}},
	}
	n := newNode(t)
	members := map[string]schemas.EntityID{}
	for _, kind := range schemas.AgentTypes() {
		for _, tier := range schemas.Tiers() {
			id := accesstest.Named(string(kind) + string(tier))
			members[string(kind)+string(tier)] = id
			n.agent(id, ann, ann, kind)
			n.SQL(`UPDATE entities SET grants =
				'{"groups":["approved"],"bonus_groups":["bonus"],"private":"read_write"}' WHERE id = ?`, id)
		}
	}
	for _, g := range []schemas.GroupID{"plain", "swarm", "approved", "bonus"} {
		n.Group(g, ann)
		for _, id := range members {
			n.Join(g, id, "member")
		}
	}
	n.Group("closed", ann)
	n.SQL(`UPDATE groups SET kind = 'swarm' WHERE id = 'swarm'`)

	var b strings.Builder
	b.WriteString("What an agent reads (R) and writes (W) of each kind of memory, by its type and the tier that " +
		"verdicts gave it.\n" +
		"Its capabilities allow everything; its parent granted private memory, the group approved, and the group " +
		"bonus at tier high.\n\n")
	fmt.Fprintf(&b, "%-14s%-11s", "type", "tier")
	for _, k := range kinds {
		fmt.Fprintf(&b, "%-17s", k.name)
	}
	for _, kind := range schemas.AgentTypes() {
		for _, tier := range schemas.Tiers() {
			id := members[string(kind)+string(tier)]
			n.bring(id, tier)
			fmt.Fprintf(&b, "\n%-14s%-11s", kind, tier)
			for _, k := range kinds {
				read, write := k.of(id), k.of(id)
				read.Kind, write.Kind = access.KindRead, access.KindWrite
				cell := ""
				if may(n.need(id, read)) {
					cell += "R"
				}
				if may(n.need(id, write)) {
					cell += "W"
				}
				if cell == "" {
					cell = "-"
				}
				fmt.Fprintf(&b, "%-17s", cell)
			}
		}
	}
	lines := strings.Split(b.String()+"\n", "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n")
	const file = "testdata/scoping.golden"
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run UPDATE_GOLDEN=1 go test ./trust -run %s and read the change", t.Name())
}

// A verdict that moves the tier moves the rights with it, at once and in every
// process; one that does not leaves what others have decided alone.
func TestTiersMoveRights(t *testing.T) {
	n := newNode(t)
	n.Group("plaza", ann, work)
	twin := n.twin()
	group := func(kind access.Kind) access.Need {
		return access.Need{Kind: kind, Layer: schemas.L2, Visibility: schemas.Group, Group: "plaza"}
	}
	epoch := func() int64 { return n.one(`SELECT value FROM counters WHERE name = 'epoch'`) }
	require.NoError(t, twin.need(work, group(access.KindWrite)))

	n.assess(ann, Verdict{On: wrote(work, 1), Word: Right})
	require.NoError(t, twin.need(work, group(access.KindWrite)))
	before := epoch()
	n.assess(ann, Verdict{On: wrote(work, 2), Word: Right})
	require.Equal(t, before, epoch(), "medium it was and is")

	for i := range 4 {
		n.assess(ann, Verdict{On: wrote(work, 10+i), Word: Wrong})
	}
	require.Greater(t, epoch(), before)
	require.Equal(t, schemas.Low, n.standing(work).Tier)
	require.ErrorIs(t, twin.need(work, group(access.KindWrite)), schemas.ErrDenied)
	require.NoError(t, twin.need(work, group(access.KindRead)))
	n.bring(work, schemas.Untrusted)
	require.ErrorIs(t, twin.need(work, group(access.KindRead)), schemas.ErrNotFound)
}

// A tier that the passing of time takes goes without any verdict, also where the
// decision is kept.
func TestTiersLapse_INV_TRUST_TIME(t *testing.T) {
	n := newNode(t)
	n.Group("bonus", ann, work)
	n.SQL(`UPDATE entities SET agent_type = 'custom', grants = '{"bonus_groups":["bonus"]}' WHERE id = ?`, work)
	need := access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: "bonus"}
	n.bring(work, schemas.High)
	require.NoError(t, n.need(work, need))
	n.Clock.Move(29 * 24 * time.Hour)
	require.NoError(t, n.need(work, need))
	n.Clock.Move(25 * time.Hour)
	require.ErrorIs(t, n.need(work, need), schemas.ErrNotFound)
	require.Equal(t, defaultPrior(), n.score(work))
	require.Zero(t, n.standing(work).Observations)

	n.bring(work, schemas.Untrusted)
	own := access.Need{Kind: access.KindWrite, Layer: schemas.L1, Owner: work}
	require.Error(t, n.need(work, own))
	n.Clock.Move(400 * 24 * time.Hour)
	require.Error(t, n.need(work, own), "nobody waits their record out")
	n.assess(work, Verdict{On: wrote(work, 900), Word: Right})
	n.assess(ann, Verdict{On: wrote(work, 901), Word: Wrong})
	require.Error(t, n.need(work, own), "nor does praise of oneself, nor another error, let them out")
	require.Equal(t, schemas.Untrusted, n.standing(work).Tier)
	n.assess(ann, Verdict{On: wrote(work, 902), Word: Right})
	require.NoError(t, n.need(work, own))
	require.NoError(t, n.verify())
}

// Where an agent owns the group, the lower of its tier and the person's counts: the
// owner may keep out whom the person trusts, and lets nobody in whom the person does not.
func TestTheStricterOfOwnerAndPersonCounts(t *testing.T) {
	n := newNode(t)
	n.Group("atelier", solo, work)
	n.Group("plaza", ann, work)
	group := func(id schemas.GroupID) access.Need {
		return access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: id}
	}
	n.bring(work, schemas.Low)
	require.Error(t, n.need(work, group("atelier")), "without an opinion of the owner's it is the person's")
	require.Error(t, n.need(work, group("plaza")))
	here := func(i int) Memory {
		m := wrote(work, 100+i)
		m.Visibility, m.Group = schemas.Group, "atelier"
		return m
	}
	before := n.score(work)
	require.True(t, n.assess(solo, Verdict{On: here(1), Word: Right}).Own)
	require.Error(t, n.need(work, group("atelier")), "one vouch of the owner's does not overrule the person")
	require.Error(t, n.need(work, group("plaza")))
	weight := milli(250, defaultPrior())
	require.Equal(t, before.plus(Score{weight, 0}), n.score(work), "in the person's book it is a peer's word")
	require.EqualValues(t, 4000, n.one(`SELECT alpha FROM trust_scores WHERE observer = ? AND agent = ?`, solo, work))

	n.bring(work, schemas.Medium)
	require.NoError(t, n.need(work, group("atelier")))
	for i := range 4 {
		n.assess(solo, Verdict{On: here(10 + i), Word: Wrong})
	}
	require.Error(t, n.need(work, group("atelier")), "the owner's own verdicts lower the tier in its group")
	require.NoError(t, n.need(work, group("plaza")), "and nowhere else")

	// The owner's family stays its family in its own book.
	n.Group("home", lead, work)
	own := wrote(work, 200)
	own.Visibility, own.Group = schemas.Group, "home"
	n.assess(lead, Verdict{On: own, Word: Right})
	require.Zero(t, n.one(`SELECT count(*) FROM trust_scores WHERE observer = ?`, lead))
	require.NoError(t, n.verify())
}

// What a person is told of the borders is what the tiers follow.
func TestBordersAreThoseInForce(t *testing.T) {
	for tier, want := range map[schemas.Tier]string{
		schemas.Untrusted: "low from 0.3",
		schemas.Low:       "untrusted below 0.2, medium from 0.6",
		schemas.Medium:    "low below 0.5, high above 0.85",
		schemas.High:      "medium below 0.75",
	} {
		require.Equal(t, want, borders(tier))
	}
}
