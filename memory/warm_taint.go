package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
)

// taintCarries is for how long after the last mark a new token of the same entity
// goes on with its session: four lives of a token.
const taintCarries = time.Hour

// taintKept is for how long the marks of tokens are kept: longer than any token lives or passes its
// mark to the next, however the clock was set.
const taintKept = 24 * time.Hour

// SecondHand reports whether text of this source was not the writer's own: a tool printed it,
// it was read outside, or its writer had read such text.
func (s Source) SecondHand() bool { return s == FromTool || s == FromExternal }

// secondHand is SecondHand for an item; an imported archive may be marked as well.
func (r *row) secondHand() bool {
	return r.source.SecondHand() || r.source == FromArchive && strings.Contains(r.provenance, `"tainted":true`)
}

// byPerson reports whether a person acts, as themselves or as an agent of theirs.
func byPerson(g access.Grant) bool { return g.Principal().Reads() }

// Taint marks the session of a principal as one that was shown second-hand words. The caller
// remembers that, and does not call it at every read. It ends with the session: with
// the process or, for a bearer, when no token followed for an hour. Nothing a
// model can call ends it.
func Taint(g access.Grant, who access.Principal) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	added, err := g.Tx().Exec(insertTaint, who.Entity, who.Session, g.Tx().Micros())
	if err != nil {
		return fmt.Errorf("mark session: %w", err)
	}
	if added == 0 {
		return nil
	}
	return g.Audit("entity/"+string(who.Entity), map[string]any{"session": who.Session})
}

// CarryTaint hands the mark of an entity's earlier tokens on to the session of a
// new one, and drops the marks of those long gone.
func CarryTaint(g access.Grant, who access.Principal) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	now := g.Tx().Micros()
	if _, err := g.Tx().Exec(carryTaint, who.Entity, who.Session, now, now-taintCarries.Microseconds(),
		BearerSession+"%"); err != nil {
		return fmt.Errorf("carry mark: %w", err)
	}
	if _, err := g.Tx().Exec(dropTaint, who.Entity, BearerSession+"%", now-taintKept.Microseconds()); err != nil {
		return fmt.Errorf("drop marks: %w", err)
	}
	return nil
}

// BearerSession begins the names of sessions that are tokens.
const BearerSession = "http-"

// Tainted reports whether the caller's session is marked. A person is the judge
// of what they read.
func Tainted(g access.Grant) (bool, error) {
	who := g.Principal()
	if byPerson(g) || who.Method == access.ByNode {
		return false, nil
	}
	var one int
	err := g.Tx().QueryRow(selectTaint, who.Entity, who.Session).Scan(&one)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read session: %w", err)
	}
	return true, nil
}

// taint marks r as second-hand if its words are: by a source it is derived from,
// because its writer's session was shown such, or as a new version of an item that
// is, unless a person wrote it (INV-TAINT). Saying it in other words changes nothing
// about that.
func (r *row) taint(g access.Grant, d *Draft, secondHand bool) error {
	if !secondHand && !d.Tainted {
		marked, err := Tainted(g)
		if err != nil || !marked {
			return err
		}
	}
	var p Provenance
	if err := json.Unmarshal([]byte(r.provenance), &p); err != nil {
		return fmt.Errorf("provenance of %s: %w", r.id, err)
	}
	r.source, p.Source, p.Tainted, r.tainted = FromExternal, FromExternal, true, true
	r.provenance = encodeProvenance(p)
	return nil
}
