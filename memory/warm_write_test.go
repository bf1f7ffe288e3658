package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

func TestEveryViolationOfAnItemIsReported(t *testing.T) {
	for _, c := range []struct {
		name string
		w    Write
		want []string
	}{
		{"nothing", Write{Type: EntityItem}, []string{"/data"}},
		{"unknown type", Write{Type: "idea", Data: json.RawMessage(`{}`)}, []string{"/type"}},
		{"not an object", Write{Type: EntityItem, Data: json.RawMessage(`[]`)}, []string{"/data"}},
		{"entity", Write{Type: EntityItem,
			Data: json.RawMessage(`{"type":"dog","aliases":"x","tags":[1],"details":3,"provenance":{}}`)},
			[]string{"/data/aliases", "/data/details", "/data/provenance", "/data/tags/0", "/data/type", "/data/name"}},
		{"session", Write{Type: SessionItem, Data: json.RawMessage(`{"date":"yesterday","duration_minutes":-1}`)},
			[]string{"/data/date", "/data/duration_minutes", "/data/focus"}},
		{"learning", Write{Type: LearningItem,
			Data: json.RawMessage(
				`{"type":"insight","content":" ","confidence":2,"validated":"no","prediction":{"due":"soon","who":1}}`)},
			[]string{"/data/confidence", "/data/content", "/data/prediction/who", "/data/prediction/due",
				"/data/prediction/check", "/data/validated"}},
		{"what would be run", Write{Type: LearningItem,
			Data: json.RawMessage(
				`{"type":"insight","content":"x","prediction":{"due":"2027-01-01","check":{"kind":"command","command":["make"]}}}`)},
			[]string{"/data/prediction/check/kind"}},
		{"what its own type says", Write{Data: json.RawMessage(`{"type":"insight"}`)}, []string{"/data/content"}},
		{"a field too many", Write{Data: json.RawMessage(`{"type":"org","name":"x","bogus":1}`)}, []string{"/data/bogus"}},
		{"no type of any", Write{Data: json.RawMessage(`{"type":"dog"}`)}, []string{"/type"}},
		{"metadata", Write{Type: LearningItem,
			Data: json.RawMessage(`{"type":"insight","content":"x","confidence":0.4}`), Confidence: ptr(0.5),
			Visibility: schemas.Group, IfVersion: 1, Source: FromArchive, Subject: "s", ValidFrom: "2026-01-02",
			ValidTo: "2026-01-01", TTLSeconds: ptr(int64(-1))},
			[]string{"/confidence", "/group", "/if_version", "/source", "/key", "/valid_to", "/ttl_seconds"}},
		{"validated too early", Write{Type: LearningItem, Data: json.RawMessage(`{"type":"insight","content":"x"}`),
			Confidence: ptr(0.1), Validated: ptr(true)},
			[]string{"/validated"}},
		{"change", Write{ID: "i", Visibility: schemas.Public, Supersedes: "x", DerivedFrom: []schemas.ItemID{"y"}},
			[]string{"/visibility", "/supersedes", "/derived_from"}},
		{"too large", Write{Type: EntityItem, Data: json.RawMessage(`{"type":"org","name":"x","details":{"a":"` +
			strings.Repeat("x", maxData) + `"}}`)}, []string{"/data"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Prepare(c.w, ada, nil)
			require.ErrorIs(t, err, schemas.ErrInvalid)
			require.ElementsMatch(t, c.want, accesstest.Paths(t, err))
		})
	}
}

func TestAnswerOfAWrite(t *testing.T) {
	n := newWarmNode(t)
	first := n.write(ada, learning(
		"Always run the database migrations before deploying the new billing service to production."))
	for _, c := range []struct {
		name, content string
		want          Status
		stored        bool
	}{
		{"equal", "Always run the database migrations before deploying the new billing service to production.",
			StatusDuplicate, false},
		{"same words", "Always run database migrations before deploying the new billing services to production!",
			StatusDuplicate, false},
		{"more words", "Always run the database migrations before deploying the new billing service to production " +
			"clusters on Friday.", StatusRefines, true},
		{"denied", "Never run the database migrations before deploying the new billing service to production.",
			StatusConflicts, true},
		{"unrelated", "The cat sleeps on the warm laser printer.", StatusNew, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := n.write(ada, learning(c.content))
			require.Equal(t, c.want, w.Status)
			require.Equal(t, c.stored, w.Stored)
			if c.want != StatusNew {
				require.Contains(t, w.With, first.ID)
			}
			if !c.stored {
				require.Equal(t, first.ID, w.ID)
			}
		})
	}
	require.Equal(t, "4", n.one(`SELECT count(*) FROM items`))
}

func TestNumbersApartAreAConflict(t *testing.T) {
	n := newWarmNode(t)
	first := n.write(ada, learning("The gateway of the payment cluster listens on port 8080 behind nginx."))
	second := n.write(ada, learning("The gateway of the payment cluster listens on port 9090 behind nginx."))
	require.Equal(t, StatusConflicts, second.Status)
	require.Equal(t, []schemas.ItemID{first.ID}, second.With)
	require.Equal(t, []Link{{"conflicts_with", first.ID}}, n.read(ada, second.ID).Related)
}

// INV-NO-ORACLE: the answer to a write tells nothing of what its writer may not
// read, whatever the writer guesses.
func TestAWriteTellsNothingOfHiddenItems(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{})
	secret := "The launch code of the northern silo is swordfish and nobody may know of it."
	about := learning(secret)
	about.Subject, about.Key = "silo", "code"
	n.write(ada, about)
	n.write(ada, inGroup(learning(secret), "team-a"))
	for _, who := range []schemas.EntityID{bob, eve, mallory} {
		guess := about
		require.Equal(t, StatusNew, n.write(who, guess).Status, "equal content")
		guess = learning(secret + " Really.")
		guess.Subject, guess.Key = "silo", "code"
		w := n.write(who, guess)
		for _, id := range w.With {
			require.Equal(t, who, n.read(who, id).Owner, "only its own guess")
		}
	}
}

func TestChangeOfAnItem(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	w := n.write(ada, inGroup(learning("The cache lives in Redis."), "team-a"))
	change := learning("The cache lives in Valkey.")
	change.ID = w.ID
	_, err := n.tryWrite(ada, change)
	require.ErrorIs(t, err, schemas.ErrInvalid, "shared: needs if_version")
	change.IfVersion = 1
	_, err = n.tryWrite(bob, change)
	require.ErrorIs(t, err, schemas.ErrDenied, "the words of another")
	var refused *schemas.Error
	require.ErrorAs(t, err, &refused)
	instead := fmt.Sprintf(`"data": {"type": "insight", "content": "…"}, "supersedes": %q, "group": "team-a"}`, w.ID)
	require.Contains(t, refused.Hint.String(), instead)
	changed := n.write(ada, change)
	require.Equal(t, 2, changed.Version)
	_, err = n.tryWrite(ada, change)
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.Contains(t, err.Error(), "version 2")
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(n.search(bob, "valkey")))
	was, err := n.trySearch(bob, Search{Text: "redis", Without: ByUse})
	require.NoError(t, err)
	require.Empty(t, was.Hits, "its words are in the index no more")

	var history []Version
	require.NoError(t, n.do(bob, access.Read, func(g access.Grant) (err error) {
		history, err = History(g, w.ID)
		return err
	}))
	require.Len(t, history, 1)
	require.Contains(t, string(history[0].Data), "Redis")
	require.Equal(t, ada, history[0].Provenance.Author)
}

// INV-QUARANTINE
func TestQuarantine(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	doubt := inGroup(learning("Perhaps the flux capacitor leaks."), "team-a")
	doubt.Confidence = ptr(0.299)
	w := n.write(ada, doubt)
	require.True(t, w.Quarantined)
	require.Equal(t, "0", n.one(`SELECT count(*) FROM events WHERE type = 'memory.written'`))

	own, other := n.search(ada, "flux capacitor"), n.search(bob, "flux capacitor")
	require.Empty(t, own.Hits)
	require.Equal(t, 1, own.Hidden.Quarantined)
	require.Empty(t, other.Hits)
	require.Zero(t, other.Hidden, "somebody else's is not counted")
	_, err := n.tryRead(bob, w.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	private := doubt
	private.Group = ""
	n.write(ada, private)
	require.Equal(t, 1, n.search(lead, "flux capacitor").Hidden.Quarantined, "a descendant's is")
	require.Zero(t, n.search(eve, "flux capacitor").Hidden)
	_, err = n.share(ada, w.ID, "team-a")
	require.ErrorIs(t, err, schemas.ErrDenied)

	n.write(russell, Write{ID: w.ID, IfVersion: 1, Validated: ptr(true)})
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(n.search(bob, "flux capacitor")))
}

// INV-LINEAGE
func TestLineage(t *testing.T) {
	n := newWarmNode(t)
	src := learning("The retry budget is three attempts.")
	src.Confidence = ptr(0.45)
	a := n.write(ada, src)
	derived := learning("Three attempts, so the client gives up after nine seconds.")
	derived.Confidence, derived.DerivedFrom = ptr(0.9), []schemas.ItemID{a.ID}
	w := n.write(ada, derived)
	require.InDelta(t, 0.45, w.Confidence, 1e-9)
	require.Equal(t, []Link{{"derived_from", a.ID}}, n.read(ada, w.ID).Related)

	derived.Data = learning("another one").Data
	_, hidden := n.tryWrite(bob, derived)
	derived.DerivedFrom = []schemas.ItemID{"0197a3c0-0000-7000-8000-000000000001"}
	_, missing := n.tryWrite(bob, derived)
	require.ErrorIs(t, hidden, schemas.ErrNotFound)
	require.Equal(t, missing.Error(), hidden.Error())
}

func TestZeroGrantOpensNoItem(t *testing.T) {
	var g access.Grant
	d, err := Prepare(learning("x"), ada, nil)
	require.NoError(t, err)
	q, err := NewQuery(Search{Text: "x"})
	require.NoError(t, err)
	for name, f := range map[string]func() error{
		"put":     func() error { _, err := Put(g, d); return err },
		"get":     func() error { _, err := Get(g, []schemas.ItemID{"x"}); return err },
		"history": func() error { _, err := History(g, "x"); return err },
		"find":    func() error { _, err := Find(g, q); return err },
		"remove":  func() error { _, err := Remove(g, "x", Bury); return err },
		"share":   func() error { _, err := Share(g, "x", "g"); return err },
		"groups":  func() error { _, err := ListGroups(g); return err },
		"create":  func() error { return CreateGroup(g, NewGroup{ID: "g"}) },
		"add":     func() error { _, err := AddMember(g, "g", "x", access.RoleMember); return err },
		"leave":   func() error { return Leave(g, "g", "x") },
		"archive": func() error { return WriteArchive(g, ada, schemas.SessionRecord{}) },
		"export":  func() error { _, err := OpenKept(g, g.Actor(), ""); return err },
		"import":  func() error { _, err := Take(g, []Incoming{{}}); return err },
	} {
		require.Error(t, f(), name)
	}
}
