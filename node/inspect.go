package node

import (
	"context"
	"errors"

	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory/embedding"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/trust"
)

// SchemaVersion is the newest schema of a database that this program knows.
func SchemaVersion() int { return store.SchemaVersion() }

// NetworkFileSystem names the file system that folder is on, if it is one over a network:
// processes on it cannot share a database.
func NetworkFileSystem(folder string) (name string, is bool) { return store.NetworkFileSystem(folder) }

// HasPassword reports whether the address of a database holds a password.
func HasPassword(address string) bool { return store.HasPassword(address) }

// CheckDatabase refuses an address that no database can be opened at.
func CheckDatabase(address string) error { return store.CheckAddress(address) }

// ParseDurability reads when a write counts as done. Errors: CodeInvalid.
func ParseDurability(text string) (store.Durability, error) {
	switch text {
	case "full":
		return store.Full, nil
	case "relaxed":
		return store.Relaxed, nil
	}
	return "", schemas.Invalidf("durability %q is not known", text).Expecting("full or relaxed")
}

// Inspection is what is in the database of a home, which processes may be using.
type Inspection struct {
	store.Report
	Record    events.Verified // of the audit record, against the files of checkpoints
	RecordErr error           // it cannot be read
	Trust     trust.Verified
	TrustErr  error            // the scores are not what the ledger gives; an older schema has none
	Vectors   *embedding.State // nil: an older schema has none
	Roles     roles.Inspection // of an older schema nothing
	Lost      error            // as Node.LostKey says it; nil: none is missing

	Known   map[schemas.EntityID]agents.Record // of those asked for
	Keyless []agents.Record                    // in use, of the same people, and not asked for: oldest first
}

// Inspect reads the whole database of a home without changing it, and the records of the
// entities whose key files are here. Errors: CodeUnavailable if it is damaged.
func Inspect(ctx context.Context, home Home, files []events.CheckpointFile,
	here []schemas.EntityID) (i Inspection, err error) {
	i.Report, err = store.VerifyLive(ctx, home.Database(), func(tx *store.Tx) (err error) {
		i = Inspection{Known: map[schemas.EntityID]agents.Record{}}
		i.Record, i.RecordErr = events.Verify(tx, "", files)
		i.Trust, i.TrustErr = trust.Verify(tx)
		if state, err := embedding.Inspect(tx); err == nil {
			i.Vectors = &state
		}
		if i.Roles, err = roles.Inspect(tx); err != nil {
			return err
		}
		if i.Lost = lostKey(tx, home); i.Lost != nil && !errors.Is(i.Lost, schemas.ErrNotFound) {
			return i.Lost
		}
		return i.entities(tx, here)
	})
	return i, err
}

// entities reads the records of those whose key files are here, and who has none here.
func (i *Inspection) entities(tx *store.Tx, here []schemas.EntityID) error {
	for _, id := range here {
		r, err := agents.Inspect(tx, id)
		if err == nil {
			i.Known[id] = r
		} else if !errors.Is(err, schemas.ErrNotFound) {
			return err
		}
	}
	list, err := agents.InspectInUse(tx, here)
	for _, r := range list {
		if _, known := i.Known[r.ID]; !known {
			i.Keyless = append(i.Keyless, r)
		}
	}
	return err
}

// InspectRoles reads what the node's database tells of roles.
func (n *Node) InspectRoles(ctx context.Context) (i roles.Inspection, err error) {
	err = n.Store.Read(ctx, func(tx *store.Tx) error {
		i, err = roles.Inspect(tx)
		return err
	})
	return i, err
}

// LostKeyOf is LostKey of a home that no node of this process has open. A database that
// cannot be read so is left to the node that opens it, which looks again.
func LostKeyOf(ctx context.Context, home Home) (lost error) {
	store.VerifyLive(ctx, home.Database(), func(tx *store.Tx) error { //nolint:errcheck // see above
		if err := lostKey(tx, home); errors.Is(err, schemas.ErrNotFound) {
			lost = err
		}
		return nil
	})
	return lost
}
