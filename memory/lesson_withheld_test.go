package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// alone has these work from a brief alone; none ends that.
func (n *warmNode) alone(who ...schemas.EntityID) {
	n.auth = access.New(n.store, access.Config{Presence: 10 * 365 * 24 * time.Hour, RefusedPerMinute: 1 << 30,
		FailedPerMinute: 1 << 30,
		BlindRole: func(_ *store.Tx, asked []schemas.EntityID) (bool, error) {
			return slices.ContainsFunc(asked, func(id schemas.EntityID) bool { return slices.Contains(who, id) }), nil
		}})
}

// INV-WITHHELD: what is left out takes no place on a page, fills no bound of what is read
// or counted, and shows in no number: each answer is the one there were without lessons.
func TestWithheldLessonsTakeNoPlace_INV_WITHHELD(t *testing.T) {
	const words = "the heron colony counts its eggs in april"
	ask := func(lessons int) (all [][]string, found []Found) {
		n := newMeaningNode(t)
		n.sql(`UPDATE entities SET capabilities = replace(capabilities, '"tools":["t"', '"tools":["t","task_submit"')
			WHERE kind = 'agent'`)
		n.group("team-a", ada, CulturePatch{}, bob)
		for i := range 14 {
			n.write(bob, inGroup(learning(fmt.Sprintf("%s, visit %d %c", words, i, 'a'+i)), "team-a"))
		}
		for i := range lessons {
			e := lessonOf(schemas.Procedural, words, fmt.Sprintf("%s and %d herons flew away", words, i), "counter")
			e.TaskID = "task-1" // they stand beside bob's last item
			n.learn(LessonScope{Owner: ada, Group: "team-a"}, e)
		}
		last := inGroup(learning("lunch was late"), "team-a")
		last.Data = json.RawMessage(`{"type":"insight","content":"we stayed for lunch","source_session":"task-1"}`)
		n.write(bob, last)
		if lessons > 0 { // what became of some is counted nowhere either
			n.sql(`UPDATE items SET expires_at = 1 WHERE n IN (SELECT item FROM lessons ORDER BY item LIMIT 5)`)
			doubted := lessonOf(schemas.Procedural, words, words+" alone", "counter")
			n.learn(LessonScope{Owner: ada}, doubted)
			n.write(ada, Write{ID: schemas.ItemID(doubted.EntryID), Confidence: ptr(0.1)})
			require.Equal(t, 1, n.search(ada, words).Hidden.Quarantined)
			f, err := n.trySearch(ada, Search{Text: words, Limit: maxHits})
			require.NoError(t, err)
			require.Len(t, f.Hits, maxHits, "where nothing is withheld, lessons fill the page")
		}
		n.refresh(n.m)
		n.alone(ada)
		look := func() {
			for _, s := range []Search{{Text: words}, {Text: words, Limit: 5}, {Text: "lunch"},
				{Text: "heronn colonny"}, {Text: "heron", Type: SessionItem}, {Text: words, Author: "ada"},
				{Group: "team-a"}, {}} {
				var names []string // in no order: how many items there are in all moves that of near equals
				for {
					f, down := n.byMeaning(n.m, ada, s)
					require.False(t, down)
					require.True(t, f.Withheld)
					for _, h := range f.Hits {
						names = append(names, h.Name+", "+h.Why)
					}
					found = append(found, Found{Hits: make([]Hit, len(f.Hits)), Hidden: f.Hidden,
						SecondHand: f.SecondHand, Near: make([]NearMiss, len(f.Near))})
					if s.Cursor = f.Cursor; f.Cursor == "" {
						break
					}
				}
				slices.Sort(names)
				all = append(all, names)
			}
		}
		look()
		n.write(ada, learning("ada's own heron colony counts its eggs")) // it is counted
		_, err := n.hide(russell, "ada")
		require.NoError(t, err)
		look()
		return all, found
	}
	none, absent := ask(0)
	some, withheld := ask(60)
	require.Len(t, none[0], 14, "of 14 that have the words, with those by meaning")
	require.Equal(t, none, some)
	require.Equal(t, absent, withheld)
}

// INV-WITHHELD: while ada works from a brief alone, no read by id, link, comparison, copy
// or export gives it a lesson, or tells one from what is not there.
func TestLessonsAreWithheld_INV_WITHHELD(t *testing.T) {
	n := newLessonNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	n.group("team-b", ada, CulturePatch{}, bob)
	const taught = "tweezers bent the rings of seven heron chicks while a cold rain fell upon every nest along our " +
		"muddy northern ditch " +
		"and nobody found dry gloves or any spare clamp inside that rusty green box"
	e := lessonOf(schemas.Procedural, "ring the chicks", taught, "tweezers")
	n.learn(LessonScope{Owner: ada, Group: "team-a"}, e)
	id := schemas.ItemID(e.EntryID)
	copied, err := n.share(ada, id, "team-b")
	require.NoError(t, err)
	derived := learning("pliers are no better")
	derived.DerivedFrom = []schemas.ItemID{id}
	follows := n.write(ada, derived).ID
	mine := lessonOf(schemas.Procedural, "ring the chicks", "glue stuck to the feathers", "glue")
	n.learn(LessonScope{Owner: ada}, mine)
	changed := learning("glue is fine when warm")
	changed.ID = schemas.ItemID(mine.EntryID)
	n.write(ada, changed)

	history := func() (v []Version) {
		require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) {
			v,
				err = History(g, changed.ID)
			return err
		}))
		return v
	}
	alike := inGroup(learning(taught), "team-a")
	export := func(who, of schemas.EntityID) (text string, err error) {
		err = n.do(who, access.Read, func(g access.Grant) error {
			kept, err := OpenKept(g, of, "")
			if err != nil {
				return err
			}
			items, err := kept.Next()
			text = fmt.Sprint(items)
			return err
		})
		return text, err
	}
	absentOf := func(err error) string {
		return replaceAll(replaceAll(err.Error(), string(id), "ID"), string(copied.ID), "ID")
	}
	never := schemas.ItemID(schemas.NewID())

	require.NotEmpty(t, n.read(ada, follows).Related)
	require.Len(t, history(), 1)
	n.alone(ada)
	for _, gone := range []schemas.ItemID{id, copied.ID} {
		_, err := n.tryRead(ada, gone)
		_, missing := n.tryRead(ada, never)
		require.ErrorIs(t, err, schemas.ErrNotFound)
		require.Equal(t, replaceAll(missing.Error(), string(never), "ID"), absentOf(err))
		require.ErrorContains(t, err, WithoutLessons)
		_, err = n.share(ada, gone, "team-b")
		require.ErrorIs(t, err, schemas.ErrNotFound)
		require.ErrorIs(t, n.remove(ada, gone, Bury), schemas.ErrNotFound)
		for name, w := range map[string]Write{
			"change": {ID: gone, IfVersion: 1, Data: json.RawMessage(`{"type":"insight","content":"no"}`),
				Type: LearningItem},
			"touch":      {ID: gone, IfVersion: 1, Validated: ptr(true)},
			"supersede":  {Type: LearningItem, Data: learning("no").Data, Supersedes: gone, Group: "team-a"},
			"derive":     {Type: LearningItem, Data: learning("no").Data, DerivedFrom: []schemas.ItemID{gone}},
			"contradict": {Type: LearningItem, Data: learning("no").Data, Supersedes: gone, Group: "team-b"},
		} {
			_, err := n.tryWrite(ada, w)
			require.ErrorIs(t, err, schemas.ErrNotFound, name)
			require.NotContains(t, err.Error(), "lesson the node drew", name)
		}
	}
	require.Empty(t, n.read(ada, follows).Related)
	require.Empty(t, history())
	require.NoError(t, n.do(ada, access.Read, func(g access.Grant) error {
		list, _, err := Carry(g, []schemas.MemoryWritten{{ItemID: id, GroupID: "team-a"}})
		require.Empty(t, list)
		return err
	}))
	w := n.write(ada, alike)
	require.Equal(t, []any{StatusNew, []schemas.ItemID(nil)}, []any{w.Status, w.With})
	require.NoError(t, n.remove(ada, w.ID, Bury))
	_, err = export(ada, ada)
	require.ErrorIs(t, err, schemas.ErrConflict)

	// People see them all the same, and whoever is not alone.
	text, err := export(russell, ada)
	require.NoError(t, err)
	require.Contains(t, text, taught)
	require.Equal(t, id, n.read(russell, id).ID)
	require.Contains(t, idsOf(n.search(bob, "tweezers rings")), id)
	require.Equal(t, e.EntryID, n.recall(LessonScope{Owner: ada, Group: "team-a"}, "ring the chicks")[0].EntryID)
	again := n.write(bob, inGroup(learning(taught), "team-a"))
	require.Contains(t, again.With, id)

	n.alone()
	require.Equal(t, id, n.read(ada, id).ID)
	require.Len(t, history(), 1)
	require.Contains(t, idsOf(n.search(ada, "tweezers rings")), id)
	text, err = export(ada, ada)
	require.NoError(t, err)
	require.Contains(t, text, taught)
}

// INV-WITHHELD: nor does a swarm hand one on, or quote one in what it leaves behind.
func TestSwarmsPassNoLessonOn_INV_WITHHELD(t *testing.T) {
	n := newLessonNode(t)
	n.group("team-side", ada, CulturePatch{}, bob)
	n.group("team", ada, CulturePatch{}, bob)
	n.sql(`UPDATE groups SET swarm_id = 'team'`)
	e := lessonOf(schemas.Procedural, "ring the chicks", "tweezers bent the rings", "tweezers")
	n.learn(LessonScope{Owner: ada, Group: "team-side"}, e)
	finding := n.write(bob, inGroup(learning("pliers are better"), "team-side")).ID
	handOn := func(who schemas.EntityID) (handed int) {
		t.Helper()
		require.NoError(t, n.do(who, access.Write, func(g access.Grant) error {
			copies, changed, err := HandOn(g, []schemas.ItemID{schemas.ItemID(e.EntryID), finding}, "team-side", "team",
				1<<60)
			require.Empty(t, changed)
			handed = len(copies)
			return err
		}))
		return handed
	}
	n.alone(ada)
	require.Equal(t, 1, handOn(ada))
	require.Equal(t, 2, handOn(bob))
	require.NoError(t, n.do(russell, access.Read, func(g access.Grant) error {
		lines, err := Headlines(g, []schemas.GroupID{"team-side"}, 9)
		require.Equal(t, []string{string(finding) + ": pliers are better"}, lines)
		return err
	}))
}

// INV-WITHHELD: of what says nearly the same as a write a few are compared; lessons do
// not take their places.
func TestWithheldLessonsLeaveDuplicatesTheirPlace_INV_WITHHELD(t *testing.T) {
	n := newLessonNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	const words = "tweezers bent the rings of seven heron chicks while a cold rain fell upon every nest along our " +
		"muddy northern ditch " +
		"and nobody found dry gloves or any spare clamp inside that rusty green box"
	near := n.write(bob, inGroup(learning(words+" whatever bob tried before breakfast"), "team-a")).ID
	for i := range 2 * mostAlike {
		n.learn(LessonScope{Owner: ada, Group: "team-a"},
			lessonOf(schemas.Procedural, "ring them", fmt.Sprintf("%s %d", words, i), "tweezers"))
	}
	n.alone(ada)
	w := n.write(ada, inGroup(learning(words+" ring them"), "team-a"))
	require.Equal(t, []schemas.ItemID{near}, w.With, w.Status)
}
