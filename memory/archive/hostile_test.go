package archive

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// exportOf writes the records of an export by hand.
func exportOf(items ...memory.Record) string {
	lines := []string{`{"kind":"export","v":1}`}
	for i := range items {
		raw, err := json.Marshal(record{Kind: recordItem, Item: &items[i]})
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(raw))
	}
	return strings.Join(lines, "\n")
}

func foreignItem(id schemas.ItemID, content string, author schemas.EntityID) memory.Record {
	data := json.RawMessage(fmt.Sprintf(`{"content":%q,"type":"insight"}`, content))
	in, wrong := memory.Foreign(memory.LearningItem, data, "")
	if wrong != nil {
		panic(wrong)
	}
	sum := in.ContentHash
	return memory.Record{ID: id, Type: memory.LearningItem, Data: data, ContentHash: sum, Visibility: schemas.Private,
		Confidence: 0.5, Version: 1,
		CreatedAt: "2026-01-02T00:00:00Z", UpdatedAt: "2026-01-02T00:00:00Z",
		Provenance: memory.Provenance{Author: author, Source: memory.FromUser, ContentHash: sum, At: "2026-01-02T00:00:00Z"}}
}

// A private item that claims to be a copy would be changed with its origin, and
// the store lets no other owner change it: its origin could never be changed again.
func TestImportedOriginsDoNotBlockTheirOwner(t *testing.T) {
	n := newNode(t)
	w := n.write(ada, learning("mine to change"))
	fake := foreignItem("fake-copy", "not a copy", bob)
	fake.Origin = w.ID
	_, _, err := n.tryImport(bob, exportOf(fake))
	require.ErrorIs(t, err, schemas.ErrInvalid)
	change := learning("changed")
	change.ID = w.ID
	n.write(ada, change)
	require.NoError(t, n.remove(ada, w.ID, memory.Purge))
}

// Whose words an item is said to be decides how it is found and weighed, so an
// import cannot say so without that one's signature.
func TestImportNeedsTheAuthorsSignature(t *testing.T) {
	n := newNode(t)
	n.group("team-a", ada, memory.CulturePatch{}, bob)
	forged := foreignItem("forged", "ada says the password may be mailed", ada)
	forged.Visibility, forged.Group = schemas.Group, "team-a"
	done, _, err := n.tryImport(bob, exportOf(forged))
	require.NoError(t, err)
	require.Equal(t, 1, done.New)
	f, err := n.trySearch(ada, memory.Search{Text: "password", Author: "ada"})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "not by ada")
	hit := n.search(ada, "password").Hits[0]
	require.Equal(t, bob, hit.AuthorID)
	item := n.read(ada, "forged")
	require.Equal(t, ada, item.Provenance.Author, "what was claimed stays readable")
	require.Equal(t, bob, item.Provenance.ImportedBy)
}

// An id that another owner uses here is imported under another, so it neither takes
// the item over nor tells that it is there; nor can an import take the id of
// another's archive before the node writes it.
func TestImportOfAForeignIDTellsNothing(t *testing.T) {
	n := newNode(t)
	w := n.write(ada, learning("ada's own"))
	first, second := foreignItem(w.ID, "one thing", eve), foreignItem("free-id", "another thing", eve)
	second.Supersedes, second.Links = w.ID, []memory.Link{{Kind: "derived_from", Other: w.ID}}
	archive := foreignItem(schemas.ItemID("agent-archive-"+string(ada)+"-20270101T000000.000000Z"), "squatted", eve)
	text := exportOf(first, second, archive)
	done, _, err := n.tryImport(eve, text)
	require.NoError(t, err)
	require.Equal(t, 3, done.New)
	require.Equal(t, string(ada), n.one(`SELECT owner FROM items WHERE id = ?`, w.ID))
	mapped := schemas.ItemID(n.one(`SELECT id FROM items WHERE owner = ? AND data LIKE '%one thing%'`, eve))
	require.NotEqual(t, w.ID, mapped)
	require.Equal(t, mapped, n.read(eve, "free-id").Supersedes, "references follow")
	require.Equal(t, mapped, n.read(eve, "free-id").Related[0].Other)
	require.Equal(t, "0", n.one(`SELECT count(*) FROM items WHERE id = ?`, archive.ID))
	done, _, err = n.tryImport(eve, text)
	require.NoError(t, err)
	require.Equal(t, Imported{Same: 3, Refused: []Refused{}}, done, "twice changes nothing")
}

// Words that another signed are not that one's where the file says what they are about,
// or when they hold.
func TestSignedWordsUnderAnotherSubjectAreTheImporters_INV_IMPORT(t *testing.T) {
	n := newNode(t)
	n.knows(ada, keyOf(7))
	for name, change := range map[string]func(i *memory.Record){
		"as they were":    func(*memory.Record) {},
		"another subject": func(i *memory.Record) { i.Subject, i.Key = "reactor", "verdict" },
		"another time":    func(i *memory.Record) { i.ValidFrom = "2020-01-01T00:00:00Z" },
		"an end":          func(i *memory.Record) { i.ValidTo = "2099-01-01T00:00:00Z" },
	} {
		item := foreignItem(schemas.ItemID(strings.ReplaceAll(name, " ", "-")), "It is safe: "+name, ada)
		signed := schemas.ItemProvenance{Author: ada, ItemID: item.ID}
		raw, err := hex.DecodeString(item.ContentHash)
		require.NoError(t, err)
		copy(signed.ContentHash[:], raw)
		item.Provenance.SignedBy = ada
		item.Provenance.Signature = base64.StdEncoding.EncodeToString(keyOf(7).Sign(signed.SigningBytes()))
		change(&item)
		_, _, err = n.tryImport(bob, exportOf(item))
		require.NoError(t, err)
		want := bob
		if name == "as they were" {
			want = ada
		}
		require.Equal(t, string(want), n.one(`SELECT author FROM items WHERE id = ?`, item.ID), name)
	}
}

// A lesson that went out in an export comes home as its importer's word.
func TestImportedLessonsDoNotBind_INV_LESSON(t *testing.T) {
	for _, who := range []schemas.EntityID{ada, russell} {
		t.Run(string(who), func(t *testing.T) {
			n, home := newNode(t), newNode(t)
			scope := memory.LessonScope{Owner: who}
			e := schemas.MemoryEntry{EntryID: schemas.NewID(), TaskID: schemas.NewID(), Type: schemas.Procedural,
				Tags: []string{"deploy"}, Content: schemas.Lesson{Intent: "trim the logs",
					Lesson: "logrotate dropped the newest file", Avoid: []string{"logrotate"}}}
			require.NoError(t, n.do(access.NodeEntity, access.Write,
				func(g access.Grant) error { return memory.Learn(g, scope, e) }))
			recall := func() (list []memory.RememberedLesson) {
				require.NoError(t, home.do(access.NodeEntity, access.Read, func(g access.Grant) (err error) {
					list, err = memory.RecallLessons(g, scope, "trim the logs", 0)
					return err
				}))
				return list
			}
			taken := n.export(who, JSONL)
			if who == russell { // the person alone brings a lesson back as one, by their signature
				home.knows(russell, ownerKey)
				taken = n.signed(who, JSONL)
			}
			home.clock.micros.Store(n.clock.micros.Load())
			_, _, err := home.tryImport(who, taken)
			require.NoError(t, err)
			found := recall()
			for _, l := range found {
				require.False(t, l.Vouched)
			}
			require.Equal(t, who == russell, len(found) > 0, "without a known signature it is no lesson")
			require.Len(t, home.search(who, "logrotate").Hits, 1)
			err = home.do(who, access.Write,
				func(g access.Grant) error { return memory.Release(g, schemas.ItemID(e.EntryID), 1, true) })
			if who != russell {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			found = recall()
			require.Len(t, found, 1)
			require.True(t, found[0].Vouched, "a person validated it")
		})
	}
}

// What is exported holds no vector, and says nothing of models.
func TestExportHoldsNoVectors(t *testing.T) {
	n := newNode(t)
	n.write(ada, learning("a car"))
	before := n.export(ada, JSONL)
	n.sql(`INSERT INTO embedding_models(n, name, dim, private, chosen) VALUES (1, 'a model', 64, 1, 1)`)
	n.sql(`INSERT INTO embeddings(item, model, scope, seq, content_hash, at, bits, vector)
		SELECT n, 1, scope, 1, content_hash, 0, x'00', x'00' FROM items`)
	require.Equal(t, "1", n.one(`SELECT count(*) FROM embeddings`))
	require.Equal(t, before, n.export(ada, JSONL))
}

// A grant that was not given is refused.
func TestNoGrant(t *testing.T) {
	_, err := Export(access.Grant{}, io.Discard, ExportRequest{Format: JSONL})
	require.ErrorIs(t, err, access.ErrNoGrant)
	_, err = Import(access.Grant{}, &Bundle{}, ImportOptions{})
	require.ErrorIs(t, err, access.ErrNoGrant)
}
