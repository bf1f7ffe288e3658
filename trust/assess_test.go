package trust

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// milli is a weight of so much of a witness's 5 % bound, as it is rounded.
func milli(most float64, witness Score) int64 { return int64(most*witness.Q05() + 0.5) }

func TestWeights(t *testing.T) {
	prior := defaultPrior()
	on := func(author schemas.EntityID) Verdict { return Verdict{On: wrote(author, 1), Word: Right} }
	basis := func(v Verdict, author schemas.EntityID) Verdict {
		b := wrote(author, 2)
		v.Basis = &b
		return v
	}
	relayed := func(v Verdict) Verdict { v.Relayed = true; return v }
	for name, tt := range map[string]struct {
		by   schemas.EntityID
		v    Verdict
		want int64
	}{
		"the user":               {ann, on(work), 1000},
		"relayed by another":     {solo, relayed(on(work)), 500},
		"a peer":                 {solo, on(work), milli(250, prior)},
		"another's item":         {solo, basis(on(work), other), milli(500, prior)},
		"the user's own item":    {solo, basis(on(work), ann), 500},
		"another person":         {bea, on(work), milli(250, prior)},
		"another person's agent": {eve, on(work), milli(250, prior)},
		"another person's word":  {eve, relayed(on(work)), milli(250, prior)},
		"a child of the same person, who is no sibling": {lead, on(solo), milli(250, prior)},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			require.Equal(t, tt.want, n.assess(tt.by, tt.v).Weight)
			require.Equal(t, prior.plus(Score{tt.want, 0}), n.score(tt.v.On.Author))
			require.NoError(t, n.verify())
		})
	}
}

func TestOwnFamilyDoesNotCount_INV_RELATED(t *testing.T) {
	n := newNode(t)
	for i, by := range []schemas.EntityID{work, lead, mate, kid} {
		for _, relayed := range []bool{false, true} {
			out := n.assess(by, Verdict{On: wrote(work, 2*i), Word: Right, Relayed: relayed})
			require.Equal(t, Given{Agent: work, Why: BecauseKin}, out)
		}
	}
	for i, author := range []schemas.EntityID{work, lead, mate, kid} {
		b := wrote(author, 100+i)
		require.Equal(t, BecauseKin, n.assess(solo, Verdict{On: wrote(work, 50+i), Word: Right, Basis: &b}).Why,
			"nor do its items speak for it")
	}
	require.Equal(t, defaultPrior(), n.score(work))
	require.Empty(t, n.heard(work))
	require.EqualValues(t, 12, n.one(`SELECT count(*) FROM assessments`), "but it is written down")
	require.NoError(t, n.verify())
	// Children made for the purpose are family too.
	for i := range 5 {
		child := accesstest.Named(fmt.Sprint("child", i))
		n.agent(child, work, ann, schemas.SwarmWorker)
		require.Equal(t, BecauseKin, n.assess(child, Verdict{On: wrote(work, 1), Word: Right}).Why)
	}
}

func TestIndependentWordsHaveALimit(t *testing.T) {
	n := newNode(t)
	var sum int64
	for i := range 12 { // agents of another person's, whom nobody here knows
		voter := accesstest.Named(fmt.Sprint("voter", i))
		n.agent(voter, bea, bea, schemas.Custom)
		out := n.assess(voter, Verdict{On: wrote(work, 1), Word: Right})
		if sum += out.Weight; out.Weight == 0 {
			require.Equal(t, BecauseFull, out.Why)
		}
	}
	require.EqualValues(t, weakLimit, sum)
	require.Equal(t, Score{3500, 2000}, n.score(work))
	// A word repeated after its weight was used up by others changes nothing.
	n.Clock.Move(48 * time.Hour)
	require.Equal(t, milli(250, defaultPrior()), n.assess(accesstest.Named("voter0"),
		Verdict{On: wrote(work, 1), Word: Right}).Weight)
	require.Equal(t, Score{3500, 2000}, n.score(work))
	require.NoError(t, n.verify())
}

func TestRepeatedAndReplacedVerdicts(t *testing.T) {
	n := newNode(t)
	right, wrong := Verdict{On: wrote(work, 1), Word: Right}, Verdict{On: wrote(work, 1), Word: Wrong}
	require.False(t, n.assess(ann, right).Repeated)
	for range 20 {
		require.True(t, n.assess(ann, right).Repeated)
	}
	require.EqualValues(t, 1, n.one(`SELECT count(*) FROM assessments`), "nothing is written for a repetition")
	n.Clock.Move(25 * time.Hour)
	require.False(t, n.assess(ann, right).Repeated, "later it is said anew")
	require.Equal(t, Score{4000, 2000}, n.score(work))
	n.assess(ann, wrong)
	require.Equal(t, Score{3000, 3000}, n.score(work), "the newest stands")
	require.Equal(t, BecauseOutranked, n.assess(solo, right).Why, "a weaker word does not replace the user's")
	require.Equal(t, BecauseOutranked, n.assess(solo, Verdict{On: wrote(work, 1), Word: Right, Relayed: true}).Why)
	require.Equal(t, Score{3000, 3000}, n.score(work))

	copied := wrote(work, 2)
	copied.Origin = wrote(work, 1).ID
	n.assess(ann, Verdict{On: copied, Word: Wrong})
	require.Equal(t, 1, n.standing(work).Observations, "a copy is the same memory")
	require.NoError(t, n.verify())
}

// Of two agents that relay the user's word the newest counts, and the first may
// say it again.
func TestRelayedWordsReplaceEachOther(t *testing.T) {
	n := newNode(t)
	on := wrote(work, 1)
	for _, tt := range []struct {
		by   schemas.EntityID
		word Word
		want Score
	}{{solo, Right, Score{3500, 2000}}, {other, Wrong, Score{3000, 2500}}, {solo, Right, Score{3500, 2000}}} {
		require.False(t, n.assess(tt.by, Verdict{On: on, Word: tt.word, Relayed: true}).Repeated)
		require.Equal(t, tt.want, n.score(work))
	}
	require.NoError(t, n.verify())
}

// Whose word weighs next to nothing moves next to nothing: the weight of an
// untrusted witness.
func TestTheWordOfTheUntrustedWeighsLittle(t *testing.T) {
	n := newNode(t)
	for i := range 50 {
		n.assess(ann, Verdict{On: wrote(solo, i), Word: Wrong})
	}
	require.Equal(t, schemas.Untrusted, n.standing(solo).Tier)
	for i := range 50 {
		n.assess(solo, Verdict{On: wrote(work, 100+i), Word: Wrong})
	}
	require.Equal(t, schemas.Medium, n.standing(other).Tier)
	require.Equal(t, schemas.Medium, n.standing(work).Tier)
	s := n.score(work)
	require.Equal(t, int64(50*4), s.Beta-defaultPrior().Beta, "0.25 × 0.0153, fifty times")
	require.NoError(t, n.verify())
}

func TestWhatCannotBeAssessed(t *testing.T) {
	n := newNode(t)
	try := func(who schemas.EntityID, v Verdict) error {
		return n.do(who, access.Write, func(g access.Grant) error { _, err := Assess(g, v); return err })
	}
	own := wrote(work, 1)
	for name, err := range map[string]error{
		"a person's item":     try(solo, Verdict{On: wrote(ann, 1), Word: Right}),
		"of an unknown agent": try(solo, Verdict{On: wrote(accesstest.Named("nobody"), 1), Word: Right}),
		"relayed by the user": try(ann, Verdict{On: own, Word: Right, Relayed: true}),
		"relayed and with a basis": try(solo, Verdict{On: own, Word: Right, Relayed: true,
			Basis: &Memory{ID: "x", Author: other}}),
		"speaks for itself": try(solo, Verdict{On: own, Word: Right, Basis: &own}),
		"a copy speaks for its line": try(solo, Verdict{On: own, Word: Right,
			Basis: &Memory{ID: "x", Origin: own.ID, Author: other}}),
	} {
		require.ErrorIs(t, err, schemas.ErrInvalid, name)
	}
	require.Zero(t, n.one(`SELECT count(*) FROM assessments`))
	_, err := Assess(access.Grant{}, Verdict{On: own, Word: Right})
	require.ErrorIs(t, err, access.ErrNoGrant)
}

func TestPriorsAreNotHandedOn(t *testing.T) {
	n := newNode(t)
	begin := func(by, child schemas.EntityID, foreign bool) Score {
		n.agent(child, by, ann, schemas.SwarmWorker)
		require.NoError(t, n.do(by, access.Write,
			func(g access.Grant) error { return Begin(g, child, foreign, Prior{}) }))
		return n.score(child)
	}
	require.Equal(t, Score{3000, 2000}, begin(ann, accesstest.Named("p1"), false))
	require.Equal(t, Score{2500, 2500}, begin(ann, accesstest.Named("p2"), true), "agents of other nodes start Low")
	require.Equal(t, Score{3000, 2000}, begin(lead, accesstest.Named("p3"), false))
	for i := range 20 {
		n.assess(ann, Verdict{On: wrote(lead, i), Word: Right})
		n.assess(ann, Verdict{On: wrote(work, 100+i), Word: Wrong})
	}
	require.Equal(t, schemas.High, n.standing(lead).Tier)
	require.Equal(t, Score{3000, 2000}, begin(lead, accesstest.Named("p4"), false), "trust is earned")
	require.Equal(t, Score{600, 4400}, begin(work, accesstest.Named("p5"), false), "distrust is inherited: 3/25")
	n.assess(ann, Verdict{On: wrote(accesstest.Named("p5"), 500), Word: Right})
	require.Equal(t, Score{1600, 4400}, n.score(accesstest.Named("p5")))
	require.NoError(t, n.verify())
}

func TestEventsTellOfEveryChange(t *testing.T) {
	n := newNode(t)
	n.assess(ann, Verdict{On: wrote(work, 1), Word: Right})
	n.assess(work, Verdict{On: wrote(work, 1), Word: Right})
	want := []string{fmt.Sprintf(`node {"agent_id":%q,"old_score":0.6,"new_score":0.6666666666666666}`, work)}
	require.Equal(t, want, n.heard(work))
	require.Equal(t, want, n.heard(ann))
	require.Empty(t, n.heard(lead))
}

// What is above an agent, and the agent, see its score. Others are refused it, and learn that there is
// such an agent only where they may name it.
func TestWhoSeesAScore(t *testing.T) {
	n := newNode(t)
	n.Group("plaza", ann, solo, work)
	read := func(who schemas.EntityID, ref string) error {
		return n.do(who, access.Read, func(g access.Grant) error { _, err := Read(g, ref); return err })
	}
	for _, who := range []schemas.EntityID{work, lead, ann} {
		require.NoError(t, read(who, string(work)))
	}
	for _, who := range []schemas.EntityID{mate, bea, eve} {
		require.Equal(t, access.NotKnown(string(work)), read(who, string(work)))
	}
	for _, who := range []schemas.EntityID{kid, solo} { // below it, and in a group with it
		require.Equal(t, access.NotBelow(string(work)), read(who, string(work)))
	}
	require.ErrorIs(t, read(solo, string(ann)), schemas.ErrInvalid)
	require.ErrorIs(t, read(ann, ""), schemas.ErrInvalid)
}
