package memory

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// maxLessons is how many lessons a planner gets (pipeline v0.6, calibration).
const maxLessons = 10

// RememberedLesson is a lesson, and what the node knows of its words.
type RememberedLesson struct {
	schemas.MemoryEntry
	Vouched  bool // its words are the node's, and no person took them back; or a person released them
	Released bool // by a person: it may forbid
}

// RecallLessons finds the lessons of a task's place by the words of its intent, as
// memory_search finds items, the most relevant first: at most limit, 0 = 10. Of those about the
// same approaches, all but the newest of two tasks come after all others. A changed lesson is
// no lesson any more.
func RecallLessons(g access.Grant, scope LessonScope, intent string, limit int) ([]RememberedLesson, error) {
	if !g.IsNode() || g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if limit <= 0 || limit > maxLessons {
		limit = maxLessons
	}
	see, err := lessonReach(g, scope)
	if err != nil || len(see.scopes) == 0 {
		return nil, err
	}
	q, err := NewQuery(Search{Text: bounded(intent, maxQuery), Type: LearningItem, Limit: maxHits})
	if err != nil {
		return nil, err
	}
	q.lessons = true
	found, err := find(g.Tx(), see, q, "")
	if err != nil {
		return nil, err
	}
	ids := make([]schemas.ItemID, len(found.Hits))
	for i, h := range found.Hits {
		ids[i] = h.ID
	}
	list, err := readLessons(g, see, ids)
	if err != nil {
		return nil, err
	}
	list = newestFirst(list)
	return list[:min(len(list), limit)], nil
}

// StandingLessons gives those of lessons of a task's place, by their ids, that are still
// there and released by a person.
func StandingLessons(g access.Grant, scope LessonScope, ids []schemas.ItemID) (standing []schemas.ItemID, err error) {
	if !g.IsNode() || g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	see, err := lessonReach(g, scope)
	if err != nil || len(see.scopes) == 0 {
		return nil, err
	}
	list, err := readLessons(g, see, ids)
	for _, l := range list {
		if l.Released {
			standing = append(standing, schemas.ItemID(l.EntryID))
		}
	}
	return standing, err
}

// lessonReach is the one place of a scope, if its owner may read there now.
func lessonReach(g access.Grant, scope LessonScope) (see readScope, err error) {
	ref := [2]string{string(schemas.Private), string(scope.Owner)}
	if scope.Group != "" {
		may, err := g.Could(scope.Owner, []string{submitTool}, need(access.KindRead, schemas.Group, "", scope.Group))
		if err != nil || !may {
			return see, err
		}
		ref = [2]string{string(schemas.Group), string(scope.Group)}
	}
	scopes, items, err := scopeNumbers(g.Tx(), [][2]string{ref})
	if err != nil || len(scopes) == 0 {
		return see, err
	}
	if see, err = within(g.Tx(), scopes[0]); err != nil {
		return see, err
	}
	see.scopes, see.items, see.now, see.lessons = scopes, items, g.Tx().Micros(), true
	return see, nil
}

// vouch is what the node knows of an item's words.
type vouch struct {
	id       schemas.ItemID
	written  bool          // by the node, these words
	released sql.NullInt64 // a person's last word about these words
}

// counts reports whether a plan is shown a lesson: by a person's last word about its
// words, else because they are what the node wrote (INV-LESSON).
func (v vouch) counts() bool {
	if v.released.Valid {
		return v.released.Int64 != 0
	}
	return v.written
}

// readLessons reads items that are in effect as lessons, in the order of ids.
func readLessons(g access.Grant, see readScope, ids []schemas.ItemID) ([]RememberedLesson, error) {
	items, err := fetch(g.Tx(), see, ids)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectVouched, store.List(ids))
	vouches, err := store.Collect(rows, err, func(r *sql.Rows) (v vouch, err error) {
		return v, r.Scan(&v.id, &v.written, &v.released)
	})
	if err != nil {
		return nil, fmt.Errorf("read lessons: %w", err)
	}
	var out []RememberedLesson
	for _, id := range ids {
		at := slices.IndexFunc(vouches, func(v vouch) bool { return v.id == id })
		r, ok := items[id]
		if at < 0 || !ok || r.deleted != 0 || r.quarantined || !r.current {
			continue
		}
		l, err := r.lesson()
		if err != nil {
			return nil, err
		}
		l.Vouched, l.Released = vouches[at].counts(), vouches[at].released.Int64 != 0
		out = append(out, l)
	}
	return out, nil
}

// lesson reads r back as the entry it was written from.
func (r *row) lesson() (l RememberedLesson, err error) {
	var data struct {
		Content string   `json:"content"`
		Context string   `json:"context"`
		Tools   []string `json:"tools"`
		Tags    []string `json:"tags"`
		Task    string   `json:"source_session"`
	}
	if err := json.Unmarshal([]byte(r.data), &data); err != nil {
		return l, fmt.Errorf("lesson %s: %w", r.id, err)
	}
	item, err := r.item(r.updated)
	if err != nil {
		return l, err
	}
	task, _, _ := strings.Cut(data.Task, "/")
	l.MemoryEntry = schemas.MemoryEntry{EntryID: string(r.id), TaskID: task, Type: schemas.Episodic, Tags: []string{},
		Timestamp: item.CreatedAt,
		Content:   schemas.Lesson{Intent: data.Context, Lesson: data.Content, Prefer: data.Tools}}
	for i, tag := range data.Tags { // the first one is the kind
		if i > 0 {
			l.Tags = append(l.Tags, tag)
		}
	}
	if len(data.Tags) > 0 && data.Tags[0] == string(schemas.Procedural) {
		l.Type, l.Content.Prefer, l.Content.Avoid = schemas.Procedural, nil, data.Tools
	}
	return l, nil
}

func (l RememberedLesson) approaches() []string {
	return append(slices.Clone(l.Content.Avoid), l.Content.Prefer...)
}

// perApproach is of how many tasks lessons about one approach are looked at: two that
// failed advise against it, and one that worked since lifts that.
const perApproach = 2

// newestFirst puts first what a person released, then what counts, and of either sort those
// last that say nothing of an approach that newer ones of two tasks do not, so that no number
// of old lessons pushes out the newest. Otherwise the order stays.
func newestFirst(list []RememberedLesson) []RememberedLesson {
	byAge := make([]int, len(list))
	for i := range byAge {
		byAge[i] = i
	}
	slices.SortStableFunc(byAge, func(a, b int) int { return cmp.Compare(list[b].Timestamp, list[a].Timestamp) })
	tasks := map[bool]map[string][]string{true: {}, false: {}} // that spoke about an approach
	fresh := make([]bool, len(list))
	for _, i := range byAge {
		l, known := list[i], tasks[list[i].Vouched]
		for _, approach := range l.approaches() {
			if len(known[approach]) < perApproach && !slices.Contains(known[approach], l.TaskID) {
				fresh[i] = true
				known[approach] = append(known[approach], l.TaskID)
			}
		}
	}
	var ordered []RememberedLesson
	for _, want := range [][3]bool{{true, true, true}, {true, true}, {false, true, true}, {false, true}, {2: true}, {}} {
		for i, l := range list {
			if want == [3]bool{l.Released, l.Vouched, fresh[i]} {
				ordered = append(ordered, l)
			}
		}
	}
	return ordered
}

// maxTaskLessons is how many lessons of one task are listed.
const maxTaskLessons = 20

// LessonsOfTask lists the lessons that a task left, as far as the reader sees them, the
// newest first.
func LessonsOfTask(g access.Grant, task string) ([]Item, error) {
	see, err := reachOf(g)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectTaskLessons, task, maxTaskLessons)
	ids, err := store.Collect(rows, err, store.Column[schemas.ItemID])
	if err != nil {
		return nil, fmt.Errorf("list lessons: %w", err)
	}
	var out []Item
	for _, id := range ids {
		items, err := get(g.Tx(), see, []schemas.ItemID{id})
		if errors.Is(err, schemas.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, items...)
	}
	return out, nil
}
