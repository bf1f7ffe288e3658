package work

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// keepHooked is how long reports of hooks are kept.
const keepHooked = 30 * 24 * time.Hour

// Executing reports whether an agent holds a lease of R3. It is for the node.
func Executing(g access.Grant, agent schemas.EntityID) (bool, error) {
	if !g.IsNode() {
		return false, access.ErrNoGrant
	}
	_, _, _, ok, err := executing(g, agent)
	return ok, err
}

func executing(g access.Grant, agent schemas.EntityID) (item int64, id string, fence int64, ok bool, err error) {
	err = g.Tx().QueryRow(selectExecuting, agent).Scan(&item, &id, &fence)
	if errors.Is(err, store.ErrNoRows) {
		return 0, "", 0, false, nil
	}
	if err != nil {
		return 0, "", 0, false, fmt.Errorf("find the lease of an executor: %w", err)
	}
	return item, id, fence, true, nil
}

// NoteHooked stores what a client's hook reports of a call, while its agent holds a lease of
// R3; otherwise it does nothing. It leaves out text that looks like a secret. It is for the
// node: no agent writes it.
func NoteHooked(g access.Grant, agent schemas.EntityID, e schemas.Evidence) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	item, id, fence, ok, err := executing(g, agent)
	if err != nil || !ok {
		return err
	}
	var have int
	if err := g.Tx().QueryRow(countHooked, item, fence).Scan(&have); err != nil {
		return fmt.Errorf("count reports of hooks: %w", err)
	}
	if have >= maxRecorded {
		return nil
	}
	for _, text := range []*string{&e.Input, &e.Head, &e.Tail} {
		*text = withoutSecrets(*text)
	}
	e.Tool, e.Input = schemas.Shorten(e.Tool, maxToolName), schemas.Shorten(e.Input, maxInput)
	if _, err := g.Tx().Exec(insertHooked, item, fence, e.Tool, e.Input, e.Exit, e.Head, e.Tail,
		g.Tx().Micros()); err != nil {
		return fmt.Errorf("write a report of a hook: %w", err)
	}
	call, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode a report of a hook: %w", err)
	}
	sum := sha256.Sum256(call)
	return g.Audit("work/"+id, map[string]any{"fence": fence, "hook": agent, "call_sha256": hex.EncodeToString(sum[:])})
}

// maxToolName is how long the name of a tool is kept, in bytes.
const maxToolName = 200

// Hooked gives what hooks reported of the calls under a lease, in order.
func Hooked(g access.Grant, item, fence int64) ([]schemas.Evidence, error) {
	rows, err := g.Tx().Query(selectHooked, item, fence)
	calls, err := store.Collect(rows, err, func(r *sql.Rows) (e schemas.Evidence, err error) {
		return e, r.Scan(&e.Tool, &e.Input, &e.Exit, &e.Head, &e.Tail)
	})
	if err != nil {
		return nil, fmt.Errorf("read reports of hooks: %w", err)
	}
	return calls, nil
}

// HookedOver reports whether a report of a hook is older than keepHooked.
func HookedOver(g access.Grant) (yes bool, err error) {
	err = g.Tx().QueryRow(hookedOver, g.Tx().Micros()-keepHooked.Microseconds()).Scan(&yes)
	return yes, err
}

// DropHooked removes reports of hooks that are older than keepHooked. It is for the node.
func DropHooked(g access.Grant) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	n, err := g.Tx().Exec(dropHooked, g.Tx().Micros()-keepHooked.Microseconds())
	if err != nil || n == 0 {
		return err
	}
	return g.Audit("work", map[string]any{"hook_calls_dropped": n})
}

// secret are texts by which keys and tokens are known, and what stands behind a word that
// says that it is one.
var secret = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*|` +
	`\b(sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|npm_|eyJ)[A-Za-z0-9_./+-]{12,}|` +
	`(?i:(authorization: *\w+|bearer|password|passwd|secret|token|api[_-]?key)["']?( *[=:] *| +)["']?)[^\s"']{6,}`)

// withoutSecrets is a text without what looks like one.
func withoutSecrets(text string) string { return secret.ReplaceAllString(text, schemas.LeftOut) }
