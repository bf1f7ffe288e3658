package archive

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/memory"
	"cordelia/schemas"
)

// ownerKey is the key of russell, who stands at the root of ada and bob.
var ownerKey = keyOf(1)

func keyOf(seed byte) keys.Identity {
	identity, err := keys.FromSeed(bytes.Repeat([]byte{seed}, keys.SeedSize))
	if err != nil {
		panic(err)
	}
	return identity
}

// signerOf signs exports as the key's holder.
func signerOf(id schemas.EntityID, key keys.Identity) Signer {
	return Signer{Node: "node-1", ID: id, KeySeq: 1, Sign: key.Sign}
}

// knows gives the node a key of an entity.
func (n *testNode) knows(id schemas.EntityID, key keys.Identity) {
	n.sql(`INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from)
		VALUES (?, 1, ?, x'00', x'00', 0)`, id, key.PublicKey())
}

func (n *testNode) exportAs(who schemas.EntityID, r ExportRequest) (text string, done Exported) {
	n.t.Helper()
	var b bytes.Buffer
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) (err error) {
		r.Of = g.Actor()
		r.Hot = func(access.Grant) (json.RawMessage, error) { return json.RawMessage(`{"hot":1}`), nil }
		done, err = Export(g, &b, r)
		return err
	}))
	return b.String(), done
}

// export writes an export without signatures.
func (n *testNode) export(who schemas.EntityID, f Format) string {
	text, _ := n.exportAs(who, ExportRequest{Format: f})
	return text
}

// signed writes what russell signs.
func (n *testNode) signed(who schemas.EntityID, f Format) string {
	text, _ := n.exportAs(who, ExportRequest{Format: f, Signer: signerOf(russell, ownerKey)})
	return text
}

func (n *testNode) importAs(who schemas.EntityID, o ImportOptions, texts ...string) (done Imported, err error) {
	var inputs []Input
	for _, text := range texts {
		inputs = append(inputs, InputOf("", strings.NewReader(text)))
	}
	b, err := ReadBundle(inputs...)
	if err != nil {
		return done, err
	}
	err = n.do(who, access.Write, func(g access.Grant) (err error) {
		done, err = Import(g, b, o)
		return err
	})
	return done, err
}

func (n *testNode) tryImport(who schemas.EntityID, text string) (done Imported, hot string, err error) {
	done, err = n.importAs(who, ImportOptions{CreateGroups: true,
		Hot: func(_ access.Grant, context json.RawMessage, _ bool) (ContextImport, error) {
			hot = string(context)
			return ContextKept, nil
		}}, text)
	return done, hot, err
}

// fullMemory gives ada one of everything.
func fullMemory(n *testNode, key keys.Identity) {
	n.group("team-a", ada, memory.CulturePatch{TTL: ptr(int64(1e6)), Departure: ptr(memory.Permissive)}, bob)
	first := learning("The import must keep ```cordelia\n{\"kind\":\"item\"} fences apart.")
	first.Subject, first.Key, first.ValidFrom = "import", "fences", "2026-01-02"
	d, err := memory.Prepare(first, ada, func(m []byte) ([]byte, schemas.EntityID) { return key.Sign(m), ada })
	require.NoError(n.t, err)
	var a memory.Written
	require.NoError(n.t, n.do(ada, access.Write, func(g access.Grant) (err error) { a, err = memory.Put(g, d); return err }))
	change := learning("The import keeps fences apart.")
	change.ID = a.ID
	n.write(ada, change)
	next := learning("Fences are kept apart by quoting.\n```cordelia\n{\"kind\":\"item\"}\n```")
	next.Supersedes, next.DerivedFrom, next.Confidence = a.ID, []schemas.ItemID{a.ID}, ptr(0.123)
	b := n.write(ada, next)
	n.write(ada, inGroup(memory.Write{Type: memory.EntityItem,
		Data: json.RawMessage(`{"type":"project","name":"Cordelia","details":{"lang":"Go","n":[1,2.5]},"tags":["x"]}`)},
		"team-a"))
	c := n.write(bob, inGroup(learning("bob's words"), "team-a"))
	n.group("team-b", ada, memory.CulturePatch{})
	_, err = n.share(ada, c.ID, "team-b")
	require.NoError(n.t, err)
	gone := n.write(ada, learning("deleted"))
	require.NoError(n.t, n.remove(ada, gone.ID, memory.Bury))
	_ = b
}

// What the person signed keeps everything: exported again it is the same, signatures and all.
func TestExportImportsToTheSame(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	for _, format := range []Format{JSONL, Markdown} {
		for _, who := range []schemas.EntityID{ada, russell} {
			t.Run(string(format)+" by "+string(who), func(t *testing.T) {
				n := newNode(t)
				fullMemory(n, key)
				text := n.signed(ada, format)
				require.NotContains(t, text, "deleted")

				m := newNode(t)
				m.clock.move(time.Hour)
				m.knows(russell, ownerKey)
				done, hot, err := m.tryImport(who, text)
				require.NoError(t, err)
				require.Equal(t, Imported{New: 4, Groups: 2, Context: ContextKept, Refused: []Refused{}}, done)
				require.Equal(t, `{"hot":1}`, hot)
				done, _, err = m.tryImport(who, text)
				require.NoError(t, err)
				require.Equal(t, Imported{Same: 4, Context: ContextKept, Refused: []Refused{}}, done,
					"twice changes nothing")

				m.clock.move(-time.Hour)
				if who == ada {
					require.Equal(t, text, m.signed(ada, format))
				}
				require.NotEmpty(t, m.search(who, "Cordelia project").Hits)
				require.Equal(
					t, "0", m.one(
						`SELECT count(*) FROM items WHERE provenance LIKE '%imported_by%' OR source = 'external'`))
			})
		}
	}
}

// A person's import brings a release along, but not of words that the person held back since the export.
func TestAnImportReleasesNothingHeldBack_INV_RELEASE(t *testing.T) {
	for _, heldBack := range []bool{false, true} {
		n := newNode(t)
		n.knows(russell, ownerKey)
		w := n.write(ada, memory.Write{Type: memory.LearningItem,
			Data: json.RawMessage(`{"type":"procedure","content":"Count the nests before the tide turns."}`)})
		say := func(released bool) {
			require.NoError(t, n.do(russell, access.Write,
				func(g access.Grant) error { return memory.Release(g, w.ID, 1, released) }))
		}
		say(true)
		text := n.signed(ada, JSONL)
		if heldBack {
			say(false)
		}
		done, _, err := n.tryImport(russell, text)
		require.NoError(t, err)
		require.Equal(t, 1, done.New)
		waits := map[bool]string{true: "1"}
		require.Equal(t, cmp.Or(waits[heldBack], "0"),
			n.one(`SELECT count(*) FROM items WHERE owner = ? AND quarantined = 1`, russell))
	}
}

// A group goes from one node to another with what all its members wrote, to the same hashes,
// and on the node it came from it is there already.
func TestAGroupImportsToTheSame(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	n := newNode(t)
	fullMemory(n, key)
	n.knows(russell, ownerKey)
	all := ExportRequest{Group: "team-a", Format: JSONL, Signer: signerOf(russell, ownerKey)}
	text, done := n.exportAs(russell, all)
	require.Equal(t, Exported{Items: 2, Groups: 1, Left: []memory.LeftOut{}}, done)
	own, _ := n.exportAs(bob, ExportRequest{Format: JSONL})
	require.Equal(t, 1, strings.Count(own, `"kind":"item"`))
	_, done = n.exportAs(bob, ExportRequest{Format: JSONL})
	require.Equal(t, []memory.LeftOut{{Why: "others", Group: "team-a", Count: 1}}, done.Left)
	same, err := n.importAs(russell, ImportOptions{}, text)
	require.NoError(t, err)
	require.Equal(t, Imported{Same: 2, Refused: []Refused{}}, same)

	m := newNode(t)
	m.knows(russell, ownerKey)
	moved, err := m.importAs(russell, ImportOptions{}, text)
	require.NoError(t, err)
	require.Equal(t, Imported{New: 2, Groups: 1, Refused: []Refused{}}, moved)
	again, _ := m.exportAs(russell, all)
	require.Equal(t, text, again)

	err = n.do(eve, access.Read, func(g access.Grant) error {
		_, err := Export(g, new(bytes.Buffer), ExportRequest{Of: eve, Group: "team-a", Format: JSONL})
		return err
	})
	require.ErrorIs(t, err, schemas.ErrNotFound, "no member")
}

func TestUnsignedRecordsAreMarked_INV_IMPORT(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	n := newNode(t)
	fullMemory(n, key)
	for _, who := range []schemas.EntityID{ada, russell} {
		m := newNode(t) // knows no key
		done, _, err := m.tryImport(who, n.signed(ada, JSONL))
		require.NoError(t, err)
		require.Equal(t, []int{4, 4}, []int{done.New, done.External})
		require.Equal(t, "4", m.one(
			`SELECT count(*) FROM items WHERE source = 'external' AND author = ?1
				AND provenance LIKE '%"imported_by":"' || ?1 || '"%'`, who))
		require.Equal(t, "1", m.one(
			`SELECT count(*) FROM item_versions WHERE provenance LIKE '%"source":"external"%"imported_by":"' || ? ||
				'"%'`, who))
	}
}

// What the person signed for one agent's export is not believed of another agent that brings it.
func TestAnExportIsBelievedOfItsOwnEntity_INV_IMPORT(t *testing.T) {
	n := newNode(t)
	n.write(ada, learning("Skuas steal."))
	text := n.signed(ada, JSONL)
	for who, external := range map[schemas.EntityID]int{ada: 0, bob: 1, russell: 0} {
		m := newNode(t)
		m.knows(russell, ownerKey)
		done, _, err := m.tryImport(who, text)
		require.NoError(t, err)
		require.Equal(t, []int{1, external}, []int{done.New, done.External}, "%s", who)
	}
}

// A key that was given up because it was compromised vouches for nothing any more.
func TestACompromisedKeyVouchesForNothing_INV_IMPORT(t *testing.T) {
	n := newNode(t)
	n.write(ada, learning("Skuas steal."))
	m := newNode(t)
	m.knows(russell, ownerKey)
	m.sql(`INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from, reason)
		VALUES (?, 2, x'01', x'00', x'00', 0, 'compromised')`, russell)
	done, _, err := m.tryImport(russell, n.signed(ada, JSONL))
	require.NoError(t, err)
	require.Equal(t, 1, done.External)
}

// A record that is not right is left out and counted by its reason; the others are imported.
func TestImportRefusesRecordsByThemselves(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	n := newNode(t)
	fullMemory(n, key)
	text := n.export(ada, JSONL)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var item int
	for i, l := range lines {
		if strings.Contains(l, "quoting") {
			item = i
		}
	}
	refused := func(text, why string) {
		t.Helper()
		m := newNode(t)
		done, _, err := m.tryImport(ada, text)
		require.NoError(t, err)
		require.Len(t, done.Refused, 1)
		require.Contains(t, done.Refused[0].Why, why)
		require.Equal(t, []string{"line " + string(rune('0'+item+1))}, done.Refused[0].Where)
		require.Equal(t, 3, done.New)
	}
	swap := func(old, with string) string {
		out := append([]string{}, lines...)
		require.Contains(t, out[item], old)
		out[item] = strings.Replace(out[item], old, with, 1)
		return strings.Join(out, "\n")
	}
	edited := newNode(t)
	done, _, err := edited.tryImport(ada, swap("quoting", "lying"))
	require.NoError(t, err)
	require.Equal(t, 4, done.External, "words that were changed are imported as external")
	edited = n
	done, _, err = edited.tryImport(ada, swap("quoting", "lying"))
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 3}, []int{done.New, done.External, done.Same}, "beside those of the item that is here")
	done, _, err = edited.tryImport(ada, swap("quoting", "lying"))
	require.NoError(t, err)
	require.Equal(t, []int{0, 4}, []int{done.New, done.Same})
	refused(swap(`"type":"learning"`, `"type":"rumour"`), "/item/type")
	refused(swap(`"confidence":0.123`, `"confidence":7`), "/item/confidence")
	refused(swap(`"visibility":"private"`, `"visibility":"group","group":"swarm-x"`), "")
	refused(swap(`"kind":"item"`, `"kind":"item","extra":1`), "extra")
	refused(swap(`"visibility":"private"`, `"visibility":"public"`), "")
	refused(swap(`"kind":"item"`, `"kind":"item`), "not JSON")
	refused(swap("quoting", `quot\u0000ing`), "NUL")
	m := newNode(t)
	done, _, err = m.tryImport(ada, text+lines[item])
	require.NoError(t, err)
	require.Contains(t, done.Refused[0].Why, "before")
	for _, nothing := range []string{"", "{", lines[1], `{"kind":"export","v":3}`} {
		_, _, err := m.tryImport(ada, nothing)
		require.ErrorIs(t, err, schemas.ErrInvalid)
	}

	// An id of another owner's item is not taken over.
	n.clock.move(time.Second)
	_, _, err = n.tryImport(eve, strings.Join([]string{lines[0], lines[item]}, "\n"))
	require.NoError(t, err)
	require.Equal(t, string(ada), n.one(`SELECT owner FROM items WHERE data LIKE '%quoting%'`))
}

// Groups that are not here are named once, with the command that makes them.
func TestImportNamesMissingGroupsOnce(t *testing.T) {
	n := newNode(t)
	n.group("team-a", ada, memory.CulturePatch{TTL: ptr(int64(1e6))})
	n.group("team-b", ada, memory.CulturePatch{})
	for i := range 50 {
		n.write(ada, inGroup(learning(fmt.Sprintf("Guillemot number %d nests on a ledge.", i)), "team-a"))
	}
	n.write(ada, inGroup(learning("Razorbills nest in a crack."), "team-b"))
	text := n.export(ada, JSONL)
	m := newNode(t)
	_, err := m.importAs(ada, ImportOptions{}, text)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorContains(t, err, "team-a (50 items), team-b (1 item)")
	require.ErrorContains(t, err, "--create-groups")
	require.Equal(t, "0", m.one(`SELECT count(*) FROM items`))
	done, err := m.importAs(ada, ImportOptions{CreateGroups: true}, text)
	require.NoError(t, err)
	require.Equal(t, Imported{New: 51, External: 51, Groups: 2, Refused: []Refused{}}, done)
	require.Contains(t, m.one(`SELECT culture FROM groups WHERE id = 'team-a'`), "1000000")
}

func FuzzReadBundle(f *testing.F) {
	key, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	n := newNode(f)
	fullMemory(n, key)
	f.Add(n.export(ada, JSONL))
	f.Add(n.export(ada, Markdown))
	f.Add(`{"kind":"export","v":1}` + "\n" + `{"kind":"item","item":{}}`)
	f.Add("# x\n```cordelia\n")
	m := newNode(f)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ReadBundle(InputOf("f", strings.NewReader(text)))
		if err == nil {
			err = m.do(ada, access.Write, func(g access.Grant) error {
				if _, err := Import(g, b, ImportOptions{CreateGroups: true}); err != nil {
					return err
				}
				return errRolledBack
			})
		}
		var known *schemas.Error
		require.True(t, errors.Is(err, errRolledBack) || errors.As(err, &known), "%v", err)
	})
}

var errRolledBack = errors.New("rolled back")

// An unsigned record is not believed about where its words come from and how sure they are,
// also if a person imports it.
func TestAnUnsignedImportIsSecondHand_INV_TAINT(t *testing.T) {
	n := newNode(t)
	sure := learning("Fulmars spit oil.")
	sure.Confidence, sure.Validated = ptr(1.0), ptr(true)
	doubted := learning("Fulmars spit water.")
	doubted.Confidence = ptr(0.35)
	for _, who := range []schemas.EntityID{ada, russell} {
		written := []memory.Written{n.write(who, sure), n.write(who, doubted)}
		m := newNode(t)
		_, _, err := m.tryImport(who, n.export(who, JSONL))
		require.NoError(t, err)
		first, second := m.read(who, written[0].ID), m.read(who, written[1].ID)
		require.False(t, first.Validated)
		require.Equal(t, 0.5, first.Confidence)
		require.Equal(t, 0.35, second.Confidence)
		require.Equal(t, memory.FromExternal, first.Provenance.Source)
		require.Equal(t, who, first.Provenance.ImportedBy)
		require.True(t, first.Provenance.Tainted)
		if who == russell {
			continue // a person judges what they write from it
		}
		derived := learning("Fulmars are best left alone.")
		derived.DerivedFrom = []schemas.ItemID{first.ID}
		require.True(t, m.write(who, derived).Tainted)
		changed := learning("Fulmars spit stinking oil.")
		changed.ID = first.ID
		require.True(t, m.write(who, changed).Tainted)
	}
}
