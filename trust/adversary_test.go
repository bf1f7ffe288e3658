package trust

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

const tries = 30

// Agents that mean harm try, again and again, to move what another may touch, or what
// they may touch themselves: none of these tries may succeed.
func TestTrustCannotBeTurnedAgainstThePerson_INV_TIER(t *testing.T) {
	n := newNode(t)
	n.Group("plaza", ann, work, solo, other)
	n.Group("atelier", solo, work)
	write := func(who schemas.EntityID, id schemas.GroupID) bool {
		return may(n.need(who, access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group,
			Group: id}))
	}
	fresh := func(name string) schemas.EntityID {
		id := accesstest.Named(name)
		n.agent(id, ann, ann, schemas.ClaudeCode)
		n.begin(ann, id, false, Prior{})
		n.Join("plaza", id, "member")
		n.Join("atelier", id, "member")
		return id
	}
	on := func(author schemas.EntityID, i int) Memory {
		m := wrote(author, i)
		m.ID = schemas.ItemID(fmt.Sprintf("%s-%d", author[:8], i))
		return m
	}
	hits := map[string]int{}
	hit := func(what string, is bool) {
		if is {
			hits[what]++
		}
	}
	for try := range tries {
		random := rand.New(rand.NewPCG(uint64(try), 11))
		forger := fresh(fmt.Sprint("forger", try))

		// The user never said so: one call, eleven, thirty.
		for _, calls := range []int{1, 11, 30} {
			victim, friend := fresh(fmt.Sprint("victim", try, "-", calls)), fresh(fmt.Sprint("friend", try, "-", calls))
			for i := range calls {
				n.assess(forger, relay(on(victim, i), Wrong))
				n.assess(forger, relay(on(friend, i), Right))
			}
			hit(fmt.Sprint("slander ", calls), n.standing(victim).Tier != schemas.Medium || !write(victim, "plaza"))
			hit(fmt.Sprint("praise ", calls), n.standing(friend).Tier != schemas.Medium)
			s := n.score(victim)
			hit("weight", s.Beta-defaultPrior().Beta > relayedWeight ||
				n.score(friend).Alpha-defaultPrior().Alpha > relayedWeight)
		}

		// A peer, or many of another person's, call one thing or many wrong; and the
		// children its victim registers start where it stands.
		victim := fresh(fmt.Sprint("newcomer", try))
		for i := range 1 + random.IntN(40) {
			by := []schemas.EntityID{forger, eve, other}[random.IntN(3)]
			v := Verdict{On: on(victim, i), Word: Wrong}
			if random.IntN(2) == 0 {
				b := on(by, 500+i)
				v.Basis = &b
			}
			n.assess(by, v)
		}
		hit("a peer's wrong", !write(victim, "plaza"))
		child := accesstest.Named(fmt.Sprint("child", try))
		n.agent(child, victim, ann, schemas.ClaudeCode)
		n.begin(victim, child, false, Prior{})
		hit("a peer's wrong, of the parent", n.standing(child).Tier != schemas.Medium)

		// The owner of a group vouches for whom the person does not trust.
		banned := fresh(fmt.Sprint("banned", try))
		n.bring(banned, schemas.Untrusted)
		for i := range 1 + random.IntN(20) {
			m := on(banned, 800+i)
			m.Visibility, m.Group = schemas.Group, "atelier"
			n.assess(solo, Verdict{On: m, Word: Right})
		}
		hit("an owner's vouch", write(banned, "atelier"))

		// Predictions about files the predictor writes itself: from Low it would need one
		// right verdict of the person's for each error.
		seer := fresh(fmt.Sprint("seer", try))
		for i := range 10 {
			name := fmt.Sprint(try, "-", i)
			n.foresee(seer, name, "file-"+name, 2*time.Hour)
			n.resolve(name, Finding{Known: true})
		}
		n.Clock.Move(2 * time.Hour)
		for i := range 10 {
			n.resolve(fmt.Sprint(try, "-", i), Finding{Known: true, Holds: true})
		}
		s := n.standing(seer)
		hit("own files", s.Tier == schemas.High || s.ByPerson > 0 ||
			s.TierScore != defaultPrior().plus(Score{Alpha: unit}))
		n.Clock.Move(23 * time.Hour)
	}
	require.Empty(t, hits, "of %d tries", tries)
	require.NoError(t, n.verify())
}
