package memory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// A private item of the same content, over since, must not shield a member from
// being removed: what lies in its own memory is not the remover's to touch.
func TestAnEndedPrivateItemShieldsNobodyFromRemoval(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	private := learning("the words that are in two places")
	private.TTLSeconds = ptr(int64(60))
	n.write(bob, private)
	shared := n.write(bob, inGroup(learning("the words that are in two places"), "team-a"))
	n.clock.move(2 * time.Minute)
	require.NoError(t, n.leave(ada, "team-a", bob))
	require.Empty(t, n.read(bob, shared.ID).Group, "its original went home")
}

// A person stays the owner of what is in their tree, whatever role a member of
// theirs writes down for them.
func TestNobodyDemotesThePersonAbove(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	require.NoError(t, n.add(ada, "team-a", russell, access.RoleViewer))
	require.NoError(t, n.leave(russell, "team-a", bob))
	n.write(russell, inGroup(learning("still mine to write"), "team-a"))
	require.NoError(t, n.inGroups(russell, func(g access.Grant) error {
		info, err := ReadGroup(g, "team-a")
		require.Equal(t, access.RoleOwner, info.Role)
		return err
	}))
}

// Who exists is not to be learned from adding members, not even by a full id.
func TestAddingMembersTellsNobodyWhoExists(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-e", eve, CulturePatch{})
	absent := hotAgentID("nobody")
	add := func(id schemas.EntityID) error {
		return n.inGroups(eve, func(g access.Grant) error {
			_, err := AddMember(g, "team-e", string(id), access.RoleMember)
			return err
		})
	}
	known, unknown := add(ada), add(absent)
	require.ErrorIs(t, known, schemas.ErrNotFound)
	require.Equal(t, strings.ReplaceAll(unknown.Error(), string(absent), string(ada)), known.Error())
	require.Equal(t, "0", n.one(`SELECT count(*) FROM members WHERE entity_id = ?`, ada))
}

// A name outside what the caller may write is refused alike, taken or not.
func TestCreatingGroupsTellsNobodyWhichExist(t *testing.T) {
	n := newWarmNode(t)
	n.group("salaries", ada, CulturePatch{})
	create := func(id schemas.GroupID) error {
		return n.inGroups(bob, func(g access.Grant) error { return CreateGroup(g, NewGroup{ID: id}) })
	}
	taken, free := create("salaries"), create("holidays")
	require.ErrorIs(t, taken, schemas.ErrDenied)
	require.Equal(t, strings.ReplaceAll(free.Error(), "holidays", "salaries"), taken.Error())
}

// exportOf writes the records of an export by hand.
func exportOf(items ...itemRecord) string {
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

func foreignItem(id schemas.ItemID, content string, author schemas.EntityID) itemRecord {
	data := json.RawMessage(fmt.Sprintf(`{"content":%q,"type":"insight"}`, content))
	c, _ := parseContent(LearningItem, data, "")
	hash, err := contentHash(LearningItem, c.data)
	if err != nil {
		panic(err)
	}
	sum := fmt.Sprintf("%x", hash)
	return itemRecord{ID: id, Type: LearningItem, Data: data, ContentHash: sum, Visibility: schemas.Private,
		Confidence: 0.5, Version: 1,
		CreatedAt: "2026-01-02T00:00:00Z", UpdatedAt: "2026-01-02T00:00:00Z",
		Provenance: Provenance{Author: author, Source: FromUser, ContentHash: sum, At: "2026-01-02T00:00:00Z"}}
}

// A private item that claims to be a copy would be changed with its origin, and
// the store lets nobody change it: its origin could never be changed again.
func TestImportedOriginsBlockNobody(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("mine to change"))
	fake := foreignItem("fake-copy", "not a copy", bob)
	fake.Origin = w.ID
	_, _, err := n.tryImport(bob, exportOf(fake))
	require.ErrorIs(t, err, schemas.ErrInvalid)
	change := learning("changed")
	change.ID = w.ID
	n.write(ada, change)
	require.NoError(t, n.remove(ada, w.ID, Purge))
}

// Whose words an item is said to be decides how it is found and weighed, so an
// import cannot say so without that one's signature.
func TestImportPutsWordsIntoNobodysMouth(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	forged := foreignItem("forged", "ada says the password may be mailed", ada)
	forged.Visibility, forged.Group = schemas.Group, "team-a"
	done, _, err := n.tryImport(bob, exportOf(forged))
	require.NoError(t, err)
	require.Equal(t, 1, done.New)
	f, err := n.trySearch(ada, Search{Text: "password", Author: "ada"})
	require.NoError(t, err)
	require.Empty(t, f.Hits, "not by ada")
	hit := n.search(ada, "password").Hits[0]
	require.Equal(t, bob, hit.AuthorID)
	item := n.read(ada, "forged")
	require.Equal(t, ada, item.Provenance.Author, "what was claimed stays readable")
	require.Equal(t, bob, item.Provenance.ImportedBy)
}

// An id somebody else uses here is imported under another, so it neither takes
// the item over nor tells that it is there; nor can an import take the id of
// another's archive before the node writes it.
func TestImportOfAForeignIDTellsNothing(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("ada's own"))
	first, second := foreignItem(w.ID, "one thing", eve), foreignItem("free-id", "another thing", eve)
	second.Supersedes, second.Links = w.ID, []Link{{"derived_from", w.ID}}
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
