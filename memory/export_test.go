package memory

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

func (n *warmNode) export(who schemas.EntityID, f Format) string {
	n.t.Helper()
	var b bytes.Buffer
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) error {
		return Export(g, g.Actor(), &b, f, func(access.Grant) (json.RawMessage, error) { return json.RawMessage(`{"hot":1}`), nil })
	}))
	return b.String()
}

func (n *warmNode) tryImport(who schemas.EntityID, text string) (done Imported, hot string, err error) {
	b, err := ReadBundle(strings.NewReader(text))
	if err != nil {
		return done, "", err
	}
	err = n.do(who, access.Write, func(g access.Grant) (err error) {
		done, err = Import(g, b, func(_ access.Grant, context json.RawMessage) error { hot = string(context); return nil })
		return err
	})
	return done, hot, err
}

// fullMemory gives ada one of everything.
func fullMemory(n *warmNode, key keys.Identity) {
	n.group("team-a", ada, CulturePatch{TTL: ptr(int64(1e6)), Departure: ptr(Permissive)}, bob)
	first := learning("The import must keep ```cordelia\n{\"kind\":\"item\"} fences apart.")
	first.Subject, first.Key, first.ValidFrom = "import", "fences", "2026-01-02"
	d, err := Prepare(first, ada, func(m []byte) ([]byte, schemas.EntityID) { return key.Sign(m), ada })
	require.NoError(n.t, err)
	var a Written
	require.NoError(n.t, n.do(ada, access.Write, func(g access.Grant) (err error) { a, err = Put(g, d); return err }))
	change := learning("The import keeps fences apart.")
	change.ID = a.ID
	n.write(ada, change)
	next := learning("Fences are kept apart by quoting.\n```cordelia\n{\"kind\":\"item\"}\n```")
	next.Supersedes, next.DerivedFrom, next.Confidence = a.ID, []schemas.ItemID{a.ID}, ptr(0.123)
	b := n.write(ada, next)
	n.write(ada, inGroup(Write{Type: EntityItem, Data: json.RawMessage(`{"type":"project","name":"Cordelia","details":{"lang":"Go","n":[1,2.5]},"tags":["x"]}`)}, "team-a"))
	c := n.write(bob, inGroup(learning("bob's words"), "team-a"))
	n.group("team-b", ada, CulturePatch{})
	_, err = n.share(ada, c.ID, "team-b")
	require.NoError(n.t, err)
	gone := n.write(ada, learning("deleted"))
	require.NoError(n.t, n.remove(ada, gone.ID, Bury))
	_ = b
}

func TestExportImportsToTheSame(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	for _, format := range []Format{JSONL, Markdown} {
		t.Run(string(format), func(t *testing.T) {
			n := newWarmNode(t)
			fullMemory(n, key)
			text := n.export(ada, format)
			require.NotContains(t, text, "deleted")

			m := newWarmNode(t)
			m.clock.move(time.Hour)
			m.sql(`INSERT INTO entity_keys(entity_id, seq, public_key, enc_public_key, enc_binding, valid_from) VALUES (?, 1, ?, x'00', x'00', 0)`, ada, key.PublicKey())
			done, hot, err := m.tryImport(ada, text)
			require.NoError(t, err)
			require.Equal(t, Imported{Items: 4, Groups: 2, Hot: true}, done)
			require.Equal(t, `{"hot":1}`, hot)
			done, _, err = m.tryImport(ada, text)
			require.NoError(t, err)
			require.Equal(t, Imported{Same: 4, Hot: true}, done, "twice changes nothing")

			m.clock.move(-time.Hour)
			again := m.export(ada, format)
			require.NotContains(t, again, `"source":"agent"`, "no signature covers where words come from")
			again = strings.ReplaceAll(again, `"source":"external","tainted":true`, `"source":"agent"`)
			require.Equal(t, strings.ReplaceAll(text, `"shared_by":"`+string(ada)+`"`, `"shared_by":"`+string(ada)+`","imported_by":"`+string(ada)+`"`), again,
				"only what another wrote is marked")
			require.NotEmpty(t, m.search(ada, "Cordelia project").Hits)
		})
	}
}

func TestForgedProvenanceIsMarked(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	n := newWarmNode(t)
	fullMemory(n, key)
	m := newWarmNode(t) // knows no key of ada's
	_, _, err = m.tryImport(ada, n.export(ada, JSONL))
	require.NoError(t, err)
	require.Equal(t, "1", m.one(`SELECT count(*) FROM items WHERE provenance LIKE '%"imported_by":"' || ? || '"%'`, ada), "another's words")
	require.Equal(t, "1", m.one(`SELECT count(*) FROM item_versions WHERE provenance LIKE '%"imported_by":"' || ? || '"%'`, ada), "a signature nobody here can check")
}

func TestImportIsAllOrNothing(t *testing.T) {
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	n := newWarmNode(t)
	fullMemory(n, key)
	text := n.export(ada, JSONL)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var item int
	for i, l := range lines {
		if strings.Contains(l, "quoting") {
			item = i
		}
	}
	m := newWarmNode(t)
	refused := func(text string, paths ...string) {
		t.Helper()
		_, _, err := m.tryImport(ada, text)
		require.ErrorIs(t, err, schemas.ErrInvalid)
		require.Subset(t, pathsOf(t, err), paths)
		require.Equal(t, "0", m.one(`SELECT count(*) FROM items`))
		require.Equal(t, "0", m.one(`SELECT count(*) FROM groups`))
	}
	at := func(suffix string) string { return "/" + string(rune('0'+item+1)) + suffix }
	swap := func(old, with string) string {
		out := append([]string{}, lines...)
		require.Contains(t, out[item], old)
		out[item] = strings.Replace(out[item], old, with, 1)
		return strings.Join(out, "\n")
	}
	refused(swap("quoting", "lying"), at("/item/content_hash"))
	refused(swap(`"type":"learning"`, `"type":"rumour"`), at("/item/type"))
	refused(swap(`"confidence":0.123`, `"confidence":7`), at("/item/confidence"))
	refused(swap(`"visibility":"private"`, `"visibility":"group","group":"no-such"`), at("/item"))
	refused(swap(`"kind":"item"`, `"kind":"item","extra":1`), at(""))
	refused(swap(`"visibility":"private"`, `"visibility":"public"`), at("/item"))
	refused(text+lines[item], "/"+string(rune('0'+len(lines)+1))+"/item/id")
	refused("", "")
	refused("{", "/1")
	refused(lines[1], "/1/kind")

	// An id that is somebody else's here is not taken over.
	n.clock.move(time.Second)
	_, _, err = n.tryImport(eve, strings.Join([]string{lines[0], lines[item]}, "\n"))
	require.NoError(t, err)
	require.Equal(t, string(ada), n.one(`SELECT owner FROM items WHERE data LIKE '%quoting%'`))
}

func FuzzReadBundle(f *testing.F) {
	key, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	n := newWarmNode(f)
	fullMemory(n, key)
	f.Add(n.export(ada, JSONL))
	f.Add(n.export(ada, Markdown))
	f.Add(`{"kind":"export","v":1}` + "\n" + `{"kind":"item","item":{}}`)
	f.Add("# x\n```cordelia\n")
	m := newWarmNode(f)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ReadBundle(strings.NewReader(text))
		if err == nil {
			err = m.do(ada, access.Write, func(g access.Grant) error {
				if _, err := Import(g, b, nil); err != nil {
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

// Nothing signs what a file says of where words come from and how sure they are:
// an agent's word for that is not taken.
func TestAnImportByAnAgentIsSecondHand_INV_TAINT(t *testing.T) {
	n := newWarmNode(t)
	sure := learning("Fulmars spit oil.")
	sure.Confidence, sure.Validated = ptr(1.0), ptr(true)
	doubted := learning("Fulmars spit water.")
	doubted.Confidence = ptr(0.35)
	written := map[schemas.EntityID][]Written{}
	for _, who := range []schemas.EntityID{ada, russell} {
		written[who] = []Written{n.write(who, sure), n.write(who, doubted)}
		m := newWarmNode(t)
		_, _, err := m.tryImport(who, n.export(who, JSONL))
		require.NoError(t, err)
		first, second := m.read(who, written[who][0].ID), m.read(who, written[who][1].ID)
		if who == russell {
			require.Equal(t, n.read(who, first.ID), first)
			continue
		}
		require.False(t, first.Validated)
		require.Equal(t, 0.5, first.Confidence)
		require.Equal(t, 0.35, second.Confidence)
		require.Equal(t, FromExternal, first.Provenance.Source)
		require.True(t, first.Provenance.Tainted)
		derived := learning("Fulmars are best left alone.")
		derived.DerivedFrom = []schemas.ItemID{first.ID}
		require.True(t, m.write(who, derived).Tainted)
		changed := learning("Fulmars spit stinking oil.")
		changed.ID = first.ID
		require.True(t, m.write(who, changed).Tainted)
	}
}
