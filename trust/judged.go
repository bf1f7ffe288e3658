package trust

import (
	"bytes"
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Judged lists those of these lines of items on which there are verdicts of any entity: those that
// JudgedWrong is to be asked about.
func Judged(g access.Grant, lines []schemas.ItemID) ([]schemas.ItemID, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectJudged, store.List(lines))
	list, err := store.Collect(rows, err, store.Column[schemas.ItemID])
	if err != nil {
		return nil, fmt.Errorf("look for verdicts: %w", err)
	}
	return list, nil
}

// JudgedWrong tells which items the actor takes for wrong: by the last verdict on their
// present words of the person above the actor, else of the owner of their place, else of the
// actor itself. Verdicts of others never show.
func JudgedWrong(g access.Grant, items []schemas.ItemWords) (map[schemas.ItemID]bool, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if len(items) == 0 {
		return nil, nil
	}
	lines := make([]schemas.ItemID, len(items))
	for i, m := range items {
		lines[i] = m.Line
	}
	rows, err := g.Tx().Query(selectVerdicts, store.List(lines))
	list, err := store.Collect(rows, err, func(r *sql.Rows) (v judgement, err error) {
		return v, r.Scan(&v.line, &v.assessor, &v.word, &v.hash)
	})
	if err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	wrong := map[schemas.ItemID]bool{}
	owners := map[schemas.GroupID]schemas.EntityID{}
	for _, m := range items {
		owner, known := owners[m.Group]
		if !known || m.Visibility != schemas.Group {
			if owner, err = ownerOf(g.Tx(), Memory{Visibility: m.Visibility, Owner: m.Owner,
				Group: m.Group}); err != nil {
				return nil, err
			}
			if m.Visibility == schemas.Group {
				owners[m.Group] = owner
			}
		}
		if lastWord(list, m, g.Root(), owner, g.Actor()) == Wrong {
			wrong[m.ID] = true
		}
	}
	return wrong, nil
}

// judgement is a verdict as it is read.
type judgement struct {
	line     schemas.ItemID
	assessor schemas.EntityID
	word     Word
	hash     []byte
}

// lastWord is the newest verdict on the present words of an item by the first of by that gave one.
func lastWord(list []judgement, m schemas.ItemWords, by ...schemas.EntityID) Word {
	for _, who := range by {
		at := slices.IndexFunc(list, func(v judgement) bool { // the newest comes first
			return who != "" && v.assessor == who && v.line == m.Line && bytes.Equal(v.hash, m.Hash)
		})
		if at >= 0 {
			return list[at].word
		}
	}
	return ""
}
