package memory

import (
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
)

// ToRecheck reports whether an upgrade left items whose effect is decided anew.
func ToRecheck(g access.Grant) (some bool, err error) {
	if g.Tx() == nil {
		return false, access.ErrNoGrant
	}
	err = g.Tx().QueryRow(selectAnyRecheck).Scan(&some)
	return some, err
}

// Recheck decides anew about the items that an upgrade left: an instruction that took
// effect without a person goes back to waiting unless it would take effect by the rules
// of today, and what is current again is compared with new items. known are the names
// of the tools there are.
func Recheck(g access.Grant, known []string) error {
	if !g.IsNode() || g.Tx() == nil {
		return access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectRechecks)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return fmt.Errorf("read what to decide anew: %w", err)
	}
	return g.Routine(func() error {
		for i := range found {
			if err := recheck(g, &found[i], known); err != nil {
				return err
			}
		}
		_, err := g.Tx().Exec(dropRechecks)
		return err
	})
}

func recheck(g access.Grant, r *row, known []string) error {
	if r.deleted == 0 && r.supersededBy == "" {
		if err := setCurrent(g, r, true); err != nil {
			return err
		}
	}
	if _, ok := r.instruction(); !ok || r.quarantined {
		return nil
	}
	same, err := sayingSame(g, r)
	if err != nil {
		return err
	}
	effective, err := mayInstruct(g, r, known, same)
	if err != nil || effective {
		return err
	}
	if err := free(g, r, false); err != nil {
		return err
	}
	return g.Audit("item/"+string(r.id), map[string]any{"released": false, "version": r.version})
}
