package node

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// BackupReport says what a backup holds and what was checked.
type BackupReport struct {
	store.Report
	AuditEntries int64    `json:"audit_entries"`
	AuditLast    string   `json:"audit_last"` // base64 of the last hash: what a later copy must continue
	Entities     int      `json:"entities"`
	KeysOpened   int      `json:"keys_opened"` // sealed keys that open
	Unopened     []string `json:"unopened"`    // names of agents whose sealed key does not
	HumanKey     string   `json:"human_key,omitempty"`
}

// humanKeyOf is where the person's key lies beside a backup.
func humanKeyOf(backup string) string { return backup + ".human.key" }

// Backup writes a verified copy of the database to dest: its structure, its
// audit record, and that the sealed keys in it open with the person's. The
// person's key file goes beside it, if it has a passphrase; agents' keys are in
// the database, sealed.
func (n *Node) Backup(ctx context.Context, person access.Principal, r *Keyring, dest string) (BackupReport, error) {
	op := access.Op{Tool: "backup", Effect: access.Write, InPerson: true, Human: true}
	root, err := r.Open(ctx, person.Entity)
	if err != nil {
		return BackupReport{}, err
	}
	if err := n.Auth.Do(ctx, person, op,
		func(g access.Grant) error { return g.Audit("database", nil) }); err != nil {
		return BackupReport{}, err
	}
	if folder := filepath.Dir(dest); !isFolder(folder) {
		return BackupReport{}, schemas.NotFoundf("there is no folder %s",
			folder).Try("make it, or choose another place for the backup")
	}
	out := BackupReport{Unopened: []string{}}
	verify := func(tx *store.Tx) error { return out.verify(tx, person.Entity, root) }
	if n.Store.Path() == "" {
		out.Report, err = n.Store.BackupServer(ctx, dest, func(from *store.Tx, to *store.Store) error {
			_, err := n.Home.fill(ctx, to, from, nil)
			return err
		}, verify)
	} else {
		out.Report, err = n.Store.Backup(ctx, dest, verify)
	}
	if err != nil {
		return out, err
	}
	keyCopy := humanKeyOf(out.Path)
	switch err := keys.CopyFile(n.Home.HumanKey(), keyCopy); {
	case err == nil:
		out.HumanKey = keyCopy
	case !errors.Is(err, schemas.ErrDenied): // it has no passphrase
		return out, errors.Join(err, os.Remove(out.Path))
	}
	return out, nil
}

func isFolder(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// verify checks the content of the copy.
func (b *BackupReport) verify(tx *store.Tx, human schemas.EntityID, root keys.Identity) error {
	entries, last, err := verifyAudit(tx)
	if err != nil {
		return err
	}
	b.AuditEntries, b.AuditLast = entries, base64.StdEncoding.EncodeToString(last)
	all, err := standings(tx)
	if err != nil {
		return err
	}
	b.Entities = len(all)
	opened := map[schemas.EntityID]keys.Identity{human: root}
	defer func() {
		delete(opened, human) // the caller's
		for _, identity := range opened {
			identity.Erase()
		}
	}()
	for _, s := range all { // parents first
		if s.sealed == nil || s.Status == schemas.Removed {
			continue
		}
		parent, ok := opened[s.parent]
		if ok {
			var identity keys.Identity
			if identity, err = keys.Open(parent, s.sealed); err == nil {
				ok = bytes.Equal(identity.PublicKey(), s.public)
				opened[s.ID] = identity
			}
		}
		if !ok || err != nil {
			b.Unopened = append(b.Unopened, s.Name)
			continue
		}
		b.KeysOpened++
	}
	return nil
}

func verifyAudit(tx *store.Tx) (int64, []byte, error) {
	entries, last, err := events.VerifyAudit(tx)
	if err != nil {
		return 0, nil, schemas.Errorf(schemas.CodeUnavailable, "the audit record does not verify: %v", err).
			Try("cordelia doctor tells more; an earlier backup may be sound").Because(err)
	}
	return entries, last, nil
}

// standing is what an entity may do and by which key: what a restore must not
// turn back.
type standing struct {
	ID   schemas.EntityID
	Name string
	lineage
	public, enc, binding  []byte
	seq                   int64
	sealed                []byte
	capabilities, grants  string
	Status                schemas.AgentStatus
	by                    schemas.EntityID
	reason                string
	at, expires, graceEnd int64
}

// lineage is what never changes of an entity.
type lineage struct {
	human        bool
	typ          schemas.AgentType
	node         string // "" = this one
	parent, root schemas.EntityID
}

func standings(tx *store.Tx) ([]standing, error) {
	rows, err := tx.Query(selectStandings)
	all, err := store.Collect(rows, err, func(r *sql.Rows) (s standing, err error) {
		var kind string
		err = r.Scan(&s.ID, &kind, &s.typ, &s.node, &s.parent, &s.root, &s.Name, &s.public, &s.enc, &s.binding, &s.seq,
			&s.sealed,
			&s.capabilities, &s.grants, &s.Status, &s.by, &s.reason, &s.at, &s.expires, &s.graceEnd)
		s.human = kind == "human"
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("read entities: %w", err)
	}
	return all, nil
}
