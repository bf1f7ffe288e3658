package memory

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
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
		{"entity", Write{Type: EntityItem, Data: json.RawMessage(`{"type":"dog","aliases":"x","tags":[1],"details":3,"provenance":{}}`)},
			[]string{"/data/aliases", "/data/details", "/data/provenance", "/data/tags/0", "/data/type", "/data/name"}},
		{"session", Write{Type: SessionItem, Data: json.RawMessage(`{"date":"yesterday","duration_minutes":-1}`)},
			[]string{"/data/date", "/data/duration_minutes", "/data/focus"}},
		{"learning", Write{Type: LearningItem, Data: json.RawMessage(`{"type":"insight","content":" ","confidence":2,"validated":"no","prediction":{"due":"soon","who":1}}`)},
			[]string{"/data/confidence", "/data/content", "/data/prediction/who", "/data/prediction/due", "/data/prediction/check", "/data/validated"}},
		{"what would be run", Write{Type: LearningItem, Data: json.RawMessage(`{"type":"insight","content":"x","prediction":{"due":"2027-01-01","check":{"kind":"command","command":["make"]}}}`)},
			[]string{"/data/prediction/check/kind"}},
		{"metadata", Write{Type: LearningItem, Data: json.RawMessage(`{"type":"insight","content":"x","confidence":0.4}`), Confidence: ptr(0.5),
			Visibility: schemas.Group, IfVersion: 1, Source: FromArchive, Subject: "s", ValidFrom: "2026-01-02", ValidTo: "2026-01-01", TTLSeconds: ptr(int64(-1))},
			[]string{"/confidence", "/group", "/if_version", "/source", "/key", "/valid_to", "/ttl_seconds"}},
		{"validated too early", Write{Type: LearningItem, Data: json.RawMessage(`{"type":"insight","content":"x"}`), Confidence: ptr(0.1), Validated: ptr(true)},
			[]string{"/validated"}},
		{"change", Write{ID: "i", Visibility: schemas.Public, Supersedes: "x", DerivedFrom: []schemas.ItemID{"y"}},
			[]string{"/visibility", "/supersedes", "/derived_from"}},
		{"too large", Write{Type: EntityItem, Data: json.RawMessage(`{"type":"org","name":"x","details":{"a":"` + strings.Repeat("x", maxData) + `"}}`)}, []string{"/data"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Prepare(c.w, ada, nil)
			require.ErrorIs(t, err, schemas.ErrInvalid)
			require.ElementsMatch(t, c.want, pathsOf(t, err))
		})
	}
}

func TestAnswerOfAWrite(t *testing.T) {
	n := newWarmNode(t)
	first := n.write(ada, learning("Always run the database migrations before deploying the new billing service to production."))
	for _, c := range []struct {
		name, content string
		want          Status
		stored        bool
	}{
		{"equal", "Always run the database migrations before deploying the new billing service to production.", StatusDuplicate, false},
		{"same words", "Always run database migrations before deploying the new billing services to production!", StatusDuplicate, false},
		{"more words", "Always run the database migrations before deploying the new billing service to production clusters on Friday.", StatusRefines, true},
		{"denied", "Never run the database migrations before deploying the new billing service to production.", StatusConflicts, true},
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

func TestSubjectAndKey(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	fact := func(content string) Write {
		w := inGroup(learning(content), "team-a")
		w.Subject, w.Key = "Billing  API", "Owner"
		return w
	}
	old := n.write(ada, fact("Billing is owned by Kim."))
	clash := n.write(bob, fact("Since spring it belongs to Lee."))
	require.Equal(t, StatusConflicts, clash.Status)
	require.Equal(t, []schemas.ItemID{old.ID}, clash.With)
	require.Equal(t, "1", n.one(`SELECT count(*) FROM events WHERE stream = 'g/team-a' AND type = 'memory.conflict'`))

	next := fact("Now Sam looks after it.")
	next.Supersedes = old.ID
	w := n.write(bob, next)
	require.Equal(t, []schemas.ItemID{clash.ID}, w.With, "what it supersedes is no conflict")
	gone := n.read(ada, old.ID)
	require.Equal(t, stateSuperseded, gone.State)
	require.Equal(t, w.ID, gone.SupersededBy)
	next.Data = fact("Or Max.").Data
	_, err := n.tryWrite(ada, next)
	require.ErrorIs(t, err, schemas.ErrConflict, "superseded twice")

	ids := idsOf(n.search(ada, "who owns billing, Kim or Sam?"))
	require.Contains(t, ids, w.ID)
	require.NotContains(t, ids, old.ID)
	n.clock.move(time.Hour)
	f, err := n.trySearch(ada, Search{Text: "Kim", AsOf: "2026-11-20T09:00:00Z"})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "it ended when it was superseded")
}

func TestAsOf(t *testing.T) {
	n := newWarmNode(t)
	old := n.write(ada, learning("Kim owns the billing pager."))
	n.clock.move(48 * time.Hour)
	next := learning("Sam owns the billing pager.")
	next.Supersedes = old.ID
	w := n.write(ada, next)
	for as, want := range map[string]schemas.ItemID{"": w.ID, "2026-11-21": old.ID, "2026-11-22": w.ID} {
		f, err := n.trySearch(ada, Search{Text: "billing pager", AsOf: as})
		require.NoError(t, err)
		require.Equal(t, []schemas.ItemID{want}, idsOf(f), as)
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
	changed := n.write(ada, change)
	require.Equal(t, 2, changed.Version)
	_, err = n.tryWrite(ada, change)
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.Contains(t, err.Error(), "version 2")
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(n.search(bob, "valkey")))
	require.Empty(t, n.search(bob, "redis").Hits)

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

	n.write(ada, Write{ID: w.ID, IfVersion: 1, Validated: ptr(true)})
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

func TestExpiry(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{TTL: ptr(int64(3600))}, bob)
	own := learning("The temporary password rotates hourly.")
	own.TTLSeconds = ptr(int64(60))
	private, group := n.write(ada, own), n.write(ada, inGroup(learning("The standup moved to noon."), "team-a"))
	n.clock.move(59 * time.Second)
	require.Len(t, n.search(ada, "temporary password").Hits, 1)
	n.clock.move(time.Second)
	f := n.search(ada, "temporary password")
	require.Empty(t, f.Hits)
	require.Equal(t, 1, f.Hidden.Expired)
	require.Equal(t, stateExpired, n.read(ada, private.ID).State, "the owner still reads it")
	n.clock.move(time.Hour)
	_, err := n.tryRead(bob, group.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	f = n.search(bob, "standup noon")
	require.Empty(t, f.Hits)
	require.Zero(t, f.Hidden, "what is over of somebody else's is not counted")
	again := n.write(ada, own)
	require.Equal(t, StatusNew, again.Status, "what is over is no duplicate")
}

func TestDeleteUndoPurge(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.group("team-keep", ada, CulturePatch{Departure: ptr(Permissive)}, bob)
	w := n.write(ada, learning("The zanzibar endpoint answers slowly."))
	kept, err := n.share(ada, w.ID, "team-keep")
	require.NoError(t, err)
	gone, err := n.share(ada, w.ID, "team-a")
	require.NoError(t, err)

	require.NoError(t, n.remove(ada, w.ID, Bury))
	require.Equal(t, stateDeleted, n.read(ada, w.ID).State)
	require.NotContains(t, idsOf(n.search(ada, "zanzibar")), w.ID)
	require.Equal(t, "deleted", n.read(bob, gone.ID).Stale)
	require.NoError(t, n.remove(ada, w.ID, Undo))
	require.Contains(t, idsOf(n.search(ada, "zanzibar")), w.ID)

	require.ErrorIs(t, n.remove(bob, w.ID, Purge), schemas.ErrNotFound)
	require.ErrorIs(t, n.remove(bob, gone.ID, Purge), schemas.ErrDenied)
	change := learning("The zanzibar endpoint answers very slowly indeed.")
	change.ID = w.ID
	n.write(ada, change)
	require.NoError(t, n.remove(ada, w.ID, Purge))
	require.Equal(t, []schemas.ItemID{kept.ID}, idsOf(n.search(ada, "zanzibar")), "the permissive group keeps its copy")
	require.Equal(t, "0", n.one(`SELECT (SELECT count(*) FROM items WHERE id IN (?1, ?2) AND (data || name || terms) LIKE '%zanzibar%') +
		(SELECT count(*) FROM item_versions v JOIN items i ON i.n = v.item WHERE i.id = ?1)`, w.ID, gone.ID))
	require.Equal(t, "1", n.one(`SELECT count(*) FROM items_fts WHERE items_fts MATCH (SELECT group_concat('"s' || n || 'wzanzibar"', ' OR ') FROM scopes)`))
	require.ErrorIs(t, n.remove(ada, w.ID, Undo), schemas.ErrConflict)
}

// INV-SOVEREIGN: rows of private memory do not change for anyone else, even when
// a check before it is forgotten.
func TestPrivateRowsAreSovereign(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("mine alone"))
	for _, statement := range []string{
		`UPDATE items SET data = '{}' WHERE id = ?1`, `DELETE FROM items WHERE id = ?1`,
		`UPDATE items SET owner = '` + string(eve) + `' WHERE id = ?1`, `UPDATE items SET visibility = 'public' WHERE id = ?1`,
		`INSERT INTO items(n, id, type, owner, author, visibility, group_id, scope, origin, parent, stale, version, data, name, tags,
			subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined, expires_at, source, provenance,
			thread, content_hash, terms, tokens, current, created_at, updated_at, deleted_at, deleted_by)
			SELECT n + 1000, id || 'x', type, owner, author, visibility, group_id, scope, origin, parent, stale, version, data, name, tags,
			subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined, expires_at, source, provenance,
			thread, x'00', terms, tokens, current, created_at, updated_at, deleted_at, deleted_by FROM items WHERE id = ?1`,
	} {
		err := n.do(eve, access.Write, func(g access.Grant) error {
			_, err := g.Tx().Exec(statement, w.ID)
			return err
		})
		require.ErrorContains(t, err, "INV-SOVEREIGN", statement)
	}
	n.group("team-a", ada, CulturePatch{}, bob)
	in := n.write(ada, inGroup(learning("ours"), "team-a"))
	err := n.do(bob, access.Write, func(g access.Grant) error {
		_, err := g.Tx().Exec(`UPDATE items SET visibility = 'private', group_id = '', data = '{"forged":1}' WHERE id = ?`, in.ID)
		return err
	})
	require.ErrorContains(t, err, "INV-SOVEREIGN", "what comes home must be unchanged")
}

// INV-PROVENANCE: a version carries who wrote it, verifiably.
func TestSignature(t *testing.T) {
	n := newWarmNode(t)
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	d, err := Prepare(learning("signed words"), ada, func(m []byte) ([]byte, schemas.EntityID) { return key.Sign(m), ada })
	require.NoError(t, err)
	var w Written
	require.NoError(t, n.do(ada, access.Write, func(g access.Grant) (err error) { w, err = Put(g, d); return err }))
	p := n.read(ada, w.ID).Provenance
	require.Equal(t, ada, p.SignedBy)
	m := schemas.ItemProvenance{Author: ada, ItemID: w.ID}
	hash, err := hex.DecodeString(p.ContentHash)
	require.NoError(t, err)
	copy(m.ContentHash[:], hash)
	signature, err := base64.StdEncoding.DecodeString(p.Signature)
	require.NoError(t, err)
	require.NoError(t, keys.Verify(key.PublicKey(), m.SigningBytes(), signature))
}

func TestArchive(t *testing.T) {
	n := newWarmNode(t)
	id := schemas.ItemID("agent-archive-" + string(ada) + "-20261120T090000.000000Z")
	require.NoError(t, n.do(lead, access.Write, func(g access.Grant) error {
		return g.Routine(func() error {
			return WriteArchive(g, ada, SessionRecord{ID: string(id), Date: "2026-11-20", Focus: "Agent ada final state", Highlights: []string{"Finding: quokka"}})
		})
	}))
	for _, who := range []schemas.EntityID{ada, lead, russell} {
		require.Equal(t, FromArchive, n.read(who, id).Provenance.Source, who)
		require.Empty(t, n.search(who, "quokka").Hits, who)
		require.Zero(t, n.search(who, "quokka").Hidden, "an archive is not in quarantine for what it says")
	}
	for _, who := range []schemas.EntityID{bob, eve, mallory} {
		_, err := n.tryRead(who, id)
		require.ErrorIs(t, err, schemas.ErrNotFound, who)
		require.Zero(t, n.search(who, "quokka").Hidden, who)
	}
	_, err := n.tryWrite(ada, Write{ID: id, Validated: ptr(true)})
	require.ErrorIs(t, err, schemas.ErrDenied)
	err = n.do(lead, access.Write, func(g access.Grant) error {
		return WriteArchive(g, ada, SessionRecord{ID: string(id) + "2", Date: "2026-11-20", Focus: "outside a routine"})
	})
	require.ErrorContains(t, err, "INV-SOVEREIGN")
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
		"archive": func() error { return WriteArchive(g, ada, SessionRecord{}) },
		"export":  func() error { return Export(g, g.Actor(), nil, JSONL, nil) },
		"import":  func() error { _, err := Import(g, &Bundle{}, nil); return err },
	} {
		require.Error(t, f(), name)
	}
}

// The cost of a write does not grow with what is stored: no statement of a write
// scans a table.
func TestHotStatementsDoNotScan(t *testing.T) {
	n := newWarmNode(t)
	for _, query := range []string{selectOwnEqual, selectSame, selectSubject, selectSharing, selectAlike, selectItems, selectLinks, selectScope,
		selectScopes, supersede, markCopies, selectCopies, selectCopy, selectOriginals, selectCopiesIn, selectNeighbours, selectDocs,
		selectOwned, selectVersions, countScope, deleteBands, selectRole, selectGroups, selectReach, selectSaysSame} {
		for _, step := range n.plan(query) {
			table := strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.Contains(step, "CONSTANT ROW") &&
				!strings.Contains(step, "near") && !strings.Contains(step, "down") && !strings.HasPrefix(step, "SCAN (")
			require.False(t, table, "%s\n%s", query, strings.Join(n.plan(query), "\n"))
		}
	}
}

// plan is what SQLite means to do for a query.
func (n *warmNode) plan(query string) (steps []string) {
	n.t.Helper()
	args := make([]any, 0, 12)
	for i := 12; i > 0; i-- {
		if strings.Contains(query, fmt.Sprintf("?%d", i)) || strings.Count(query, "?") >= i && !strings.Contains(query, "?1") {
			args = make([]any, i)
			break
		}
	}
	require.NoError(n.t, n.store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			steps = append(steps, detail)
		}
		return rows.Err()
	}), query)
	return steps
}

func (n *warmNode) share(who schemas.EntityID, id schemas.ItemID, group schemas.GroupID) (w Written, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error {
		w, err = Share(g, id, group)
		return err
	})
	return w, err
}

func (n *warmNode) remove(who schemas.EntityID, id schemas.ItemID, how Deletion) error {
	return n.do(who, access.Destroy, func(g access.Grant) error {
		_, err := Remove(g, id, how)
		return err
	})
}

// INV-PROVENANCE: who may change a person's private memory makes the words its own, or
// leaves what they are about.
func TestAPersonsWordsKeepTheirSubject(t *testing.T) {
	n := newWarmNode(t)
	n.sql(`UPDATE entities SET grants = '{"private": "read_write"}' WHERE id = ?`, lead)
	w := n.write(russell, learning("The deploy day is Friday"))
	about := Write{ID: w.ID, IfVersion: 1, Subject: "production password", Key: "policy"}
	_, err := n.tryWrite(lead, about)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Equal(t, 2, n.write(russell, about).Version)

	words := learning("The deploy day is Monday")
	words.ID, words.IfVersion, words.Subject, words.Key = w.ID, 2, "deploys", "day"
	n.write(lead, words)
	got := n.read(russell, w.ID)
	require.Equal(t, FromAgent, got.Provenance.Source)
	require.Equal(t, lead, got.Provenance.Author)
	about.IfVersion = 3
	n.write(lead, about)
}
