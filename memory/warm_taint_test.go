package memory

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func (n *warmNode) taint(p access.Principal) {
	n.t.Helper()
	require.NoError(n.t, n.do(access.NodeEntity, access.Write, func(g access.Grant) error { return Taint(g, p) }))
}

func TestSecondHandWordsStayMarked_INV_TAINT(t *testing.T) {
	n := newWarmNode(t)
	clean := n.write(ada, learning("Otters keep a stone under the arm."))
	require.False(t, clean.Tainted)
	require.Equal(t, FromAgent, n.read(ada, clean.ID).Provenance.Source)

	n.taint(n.principal(ada))
	for _, source := range []Source{"", FromAgent, FromTool} {
		w := learning("In other words: otters carry a pebble, said " + string(source) + " of the river.")
		w.Source = source
		said := n.write(ada, w)
		require.True(t, said.Tainted)
		p := n.read(ada, said.ID).Provenance
		require.True(t, p.Tainted)
		require.Equal(t, FromExternal, p.Source, "said to be from %q", source)
	}
	changed := learning("Otters keep two stones under the arm.")
	changed.ID = clean.ID
	require.True(t, n.write(ada, changed).Tainted, "a new version has its own provenance")
	subject := n.write(ada, Write{ID: clean.ID, Subject: "otter", Key: "stones"})
	require.True(t, subject.Tainted, "a subject is words, too")

	// Another session of the same agent begins clean; what it derives does not.
	other := n.principal(ada)
	other.Session = "tomorrow"
	fresh := learning("The tern winters in the south.")
	derived := learning("Stones matter to otters.")
	derived.DerivedFrom = []schemas.ItemID{clean.ID}
	for _, c := range []struct {
		Write
		marked bool
	}{{fresh, false}, {derived, true}} {
		d, err := Prepare(c.Write, ada, nil)
		require.NoError(t, err)
		require.NoError(t, n.auth.Do(t.Context(), other, access.Op{Tool: "t", Effect: access.Write},
			func(g access.Grant) error {
				w, err := Put(g, d)
				require.Equal(t, c.marked, w.Tainted)
				return err
			}))
	}
	// A person judges for themselves, but does not wash what they derive from.
	n.taint(n.principal(russell))
	require.False(t, n.write(russell, learning("Otters are fine.")).Tainted)
	raw := learning("Printed by a tool.")
	raw.Source = FromTool
	tool := n.write(russell, raw)
	mine := learning("What the tool means.")
	mine.DerivedFrom = []schemas.ItemID{tool.ID}
	require.True(t, n.write(russell, mine).Tainted)
}

func TestMarksFollowTheTokensOfASession(t *testing.T) {
	n := newWarmNode(t)
	bearer := func(token string) access.Principal {
		return access.Principal{Entity: ada, Method: access.ByKey, KeySeq: 1, Session: BearerSession + token}
	}
	marked := func(p access.Principal) (is bool) {
		require.NoError(t, n.auth.Do(t.Context(), p, access.Op{Tool: "t", Effect: access.Read},
			func(g access.Grant) (err error) {
				is, err = Tainted(g)
				return err
			}))
		return is
	}
	renew := func(p access.Principal) {
		require.NoError(t, n.do(access.NodeEntity, access.Write,
			func(g access.Grant) error { return CarryTaint(g, p) }))
	}
	renew(bearer("0"))
	require.False(t, marked(bearer("0")))
	n.taint(bearer("1"))
	n.clock.micros.Add((50 * time.Minute).Microseconds())
	renew(bearer("2"))
	require.True(t, marked(bearer("2")))
	n.clock.micros.Add((50 * time.Minute).Microseconds())
	renew(bearer("3"))
	require.True(t, marked(bearer("3")), "as long as one token follows the other")
	n.clock.micros.Add((61 * time.Minute).Microseconds())
	renew(bearer("4"))
	require.False(t, marked(bearer("4")))
	bob := bearer("4")
	bob.Entity = lead
	require.False(t, marked(bob), "nobody else's")
}

func TestASearchSaysThatWordsAreSecondHand(t *testing.T) {
	n := newWarmNode(t)
	w := learning("The heron eats zander.")
	w.Source = FromExternal
	n.write(ada, w)
	n.write(ada, Write{Type: LearningItem,
		Data: json.RawMessage(`{"type":"insight","content":"The kestrel hovers.","source_session":"other"}`)})
	require.True(t, n.search(ada, "heron").SecondHand)
	require.False(t, n.search(ada, "kestrel").SecondHand)
	near, err := n.trySearch(ada, Search{Text: "heron", Type: EntityItem})
	require.NoError(t, err)
	require.Empty(t, near.Hits)
	require.NotEmpty(t, near.Near)
	require.True(t, near.SecondHand, "a name is words, too")
}

// The marks of tokens long gone go; those of processes, which may live, stay.
func TestOldMarksAreDropped(t *testing.T) {
	n := newWarmNode(t)
	n.taint(n.principal(ada))
	old, young := n.principal(ada), n.principal(ada)
	old.Session, young.Session = BearerSession+"old", BearerSession+"young"
	n.taint(old)
	n.clock.move(taintKept)
	n.taint(young)
	n.clock.move(time.Minute)
	require.NoError(t, n.do(access.NodeEntity, access.Write,
		func(g access.Grant) error { return CarryTaint(g, young) }))
	require.Equal(t, "2", n.one(`SELECT count(*) FROM tainted_sessions`))
	require.Equal(t, "0", n.one(`SELECT count(*) FROM tainted_sessions WHERE session = ?`, old.Session))
}

// An agent's new version is as second-hand as the one before, in whatever session;
// a person's is theirs.
func TestARevisionWashesNothing_INV_TAINT(t *testing.T) {
	n := newWarmNode(t)
	for _, source := range []Source{FromExternal, FromTool} {
		w := learning("Somebody says that petrels smell of musk, " + string(source) + ".")
		w.Source = source
		said := n.write(ada, w)
		for _, claimed := range []Source{"", FromAgent} {
			again := learning("Petrels smell of musk, says " + string(source+claimed) + ".")
			again.ID, again.Source = said.ID, claimed
			require.True(t, n.write(ada, again).Tainted)
			p := n.read(ada, said.ID).Provenance
			require.True(t, p.Tainted)
			require.Equal(t, FromExternal, p.Source)
		}
		n.write(ada, Write{ID: said.ID, Validated: ptr(true)})
		require.Equal(t, FromExternal, n.read(ada, said.ID).Provenance.Source)
		theirs := learning("Petrels do smell of musk, " + string(source) + ".")
		theirs.ID = said.ID
		d, err := Prepare(theirs, ada, nil)
		require.NoError(t, err)
		require.NoError(t, n.auth.Do(t.Context(), n.principal(russell),
			access.Op{Tool: "t", Effect: access.Write, As: "ada"}, func(g access.Grant) error {
				_, err := Put(g, d)
				return err
			}))
		p := n.read(ada, said.ID).Provenance
		require.False(t, p.Tainted)
		require.Equal(t, FromAgent, p.Source)
	}
}
