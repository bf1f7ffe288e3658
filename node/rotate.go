package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Rotated says what a rotation changed.
type Rotated struct {
	EntityID schemas.EntityID `json:"entity_id"`
	Name     string           `json:"name"`
	KeySeq   uint32           `json:"key_seq"`
	File     string           `json:"file"`           // of the new key
	Kept     string           `json:"kept,omitempty"` // of the old one
	// Children whose sealed keys were sealed anew, and those whose keys could not
	// be opened: their own processes go on, but no parent can unwrap their keys.
	Rewrapped []string `json:"rewrapped"`
	Unopened  []string `json:"unopened"`
}

// NextKey ends the name of the file of a key that a rotation is bringing in.
const NextKey = ".next"

// RotateKey gives an entity a new key. Signed by the old key and the parent's,
// or with a reason by the parent's alone. The keys of its children are sealed
// anew in the same transaction.
//
// The new key is on this machine's disk before the transaction and takes the
// place of the old file after it, so that it is never lost: repeating the call
// after a kill finishes the same rotation. Errors: CodeDenied unless a person
// asks; CodeConflict when something changed meanwhile.
func (n *Node) RotateKey(ctx context.Context, person access.Principal, r *Keyring, ref,
	reason string) (Rotated, error) {
	op := access.Op{Tool: "key_rotate", Effect: access.Destroy, InPerson: true, Human: true}
	look := op
	look.Effect = access.Read
	var record agents.Record
	var children []sealedChild
	if err := n.Auth.Do(ctx, person, look, func(g access.Grant) (err error) {
		if record, err = agents.Get(g, ref); err != nil {
			return err
		}
		children, err = sealedTo(g.Tx(), record.ID)
		return err
	}); err != nil {
		return Rotated{}, err
	}
	out := Rotated{EntityID: record.ID, Name: record.Name, File: n.Home.keyFile(record), Rewrapped: []string{},
		Unopened: []string{}}
	if r.finished && record.ID == person.Entity { // this call repeats a killed one
		out.KeySeq, out.Kept = record.Key.KeySeq, keys.OldFile(out.File, record.Key.KeySeq-1)
		return out, nil
	}
	next := out.File + NextKey
	fresh, err := r.pending(next, record)
	if err != nil {
		return out, err
	}
	defer fresh.Identity.Erase()
	out.KeySeq = fresh.KeySeq
	if fresh.KeySeq > record.Key.KeySeq { // else it is in force, and only the file is not in its place
		change, err := r.signRotation(ctx, record, fresh, reason)
		if err != nil {
			return out, err
		}
		blobs, err := r.rewrap(ctx, children, fresh, &out)
		if err != nil {
			return out, err
		}
		if err := n.Auth.Do(ctx, person, op, func(g access.Grant) error {
			if _, err := agents.Rotate(g, change); err != nil {
				return err
			}
			return replaceSealed(g, record, children, blobs)
		}); err != nil {
			return out, err
		}
	}
	out.Kept, err = keys.ReplaceFile(out.File, next)
	if err != nil && holdsKey(out.File, fresh.Identity.PublicKey()) { // another process of the person finished it
		out.Kept, err = keys.OldFile(out.File, fresh.KeySeq-1), nil
	}
	return out, err
}

// finishRotation puts the person's new key in its place where a rotation was killed after its
// commit: the record names the new key, so the file of the old one opens nothing any more.
// Where no rotation was killed that costs one look.
func (r *Keyring) finishRotation(ctx context.Context) error {
	path := r.node.Home.HumanKey()
	fresh, err := keys.ReadHeader(path + NextKey)
	if err != nil { // mostly there is none; a damaged one is the next rotation's to refuse
		return nil
	}
	record, err := r.node.record(ctx, fresh.EntityID)
	if err != nil || !bytes.Equal(record.Key.PublicKey, fresh.PublicKey) || holdsKey(path, fresh.PublicKey) {
		return err
	}
	if _, err = keys.ReplaceFile(path, path+NextKey); err != nil && holdsKey(path, fresh.PublicKey) {
		return nil // the rotation goes on, and did it
	}
	r.finished = err == nil
	return err
}

// pending gives the key a rotation is to bring in: the one an earlier attempt
// left, or a new one, protected as the old one is.
func (r *Keyring) pending(path string, record agents.Record) (keys.File, error) {
	f, err := r.load(path)
	if errors.Is(err, schemas.ErrNotFound) {
		identity, err := keys.NewIdentity(rand.Reader)
		if err != nil {
			return f, err
		}
		f = keys.File{EntityID: record.ID, Kind: keys.Agent, KeySeq: record.Key.KeySeq + 1, CreatedAt: time.Now(),
			Identity: identity}
		if record.Type == "" {
			f.Kind = keys.Human
			return f, keys.CreateFile(path, f, r.passphrase)
		}
		return f, keys.CreateFile(path, f, nil)
	}
	if err != nil {
		return f, err
	}
	inForce := f.KeySeq == record.Key.KeySeq && bytes.Equal(f.Identity.PublicKey(), record.Key.PublicKey)
	if f.EntityID != record.ID || f.KeySeq != record.Key.KeySeq+1 && !inForce {
		f.Identity.Erase()
		return f, schemas.Conflictf("%s is left from a rotation that another one overtook", path).
			Try("move it away, then repeat: mv %q %q", path, path+".stray")
	}
	return f, nil
}

// signRotation makes the record of a rotation with the signatures it needs.
func (r *Keyring) signRotation(ctx context.Context, record agents.Record, fresh keys.File,
	reason string) (agents.Rotation, error) {
	to := fresh.Identity.Recipient(fresh.KeySeq)
	change := agents.Rotation{Binding: to.Binding, KeyRotation: schemas.KeyRotation{
		EntityID: record.ID, OldSeq: record.Key.KeySeq, NewSeq: fresh.KeySeq,
		NewPublicKey: to.PublicKey, NewEncPublicKey: to.EncPublicKey, Reason: reason,
	}}
	msg := change.SigningBytes()
	if reason == "" || record.Type == "" {
		old, err := r.Open(ctx, record.ID)
		if errors.Is(err, schemas.ErrNotFound) {
			return change, schemas.Errorf(schemas.CodeUnauthenticated, "the old key of %s cannot be opened here",
				record.Name).
				Try("if it is lost for good: cordelia key rotate %s --reason lost", record.Name).Because(err)
		}
		if err != nil {
			return change, err
		}
		change.SignedOld = old.Sign(msg)
	}
	if record.Type == "" {
		return change, nil
	}
	parent, err := r.Open(ctx, record.Parent)
	if err != nil {
		return change, err
	}
	change.SignedUp = parent.Sign(msg)
	above, err := r.node.record(ctx, record.Parent)
	if err != nil {
		return change, err
	}
	change.SealedKey, err = keys.Seal(fresh.Identity, above.Key)
	return change, err
}

// sealedChild is a child whose private key is sealed to its parent.
type sealedChild struct {
	id     schemas.EntityID
	sealed []byte
}

func sealedTo(tx *store.Tx, parent schemas.EntityID) ([]sealedChild, error) {
	rows, err := tx.Query(selectSealed, parent)
	children, err := store.Collect(rows, err, func(r *sql.Rows) (c sealedChild, err error) {
		return c, r.Scan(&c.id, &c.sealed)
	})
	if err != nil {
		return nil, fmt.Errorf("read sealed keys: %w", err)
	}
	return children, nil
}

// rewrap seals the children's keys to the new key. It opens them with the old
// one, or takes them from their files.
func (r *Keyring) rewrap(ctx context.Context, children []sealedChild, fresh keys.File,
	out *Rotated) (map[schemas.EntityID][]byte, error) {
	blobs := map[schemas.EntityID][]byte{}
	to := fresh.Identity.Recipient(fresh.KeySeq)
	for _, c := range children {
		child, err := r.node.record(ctx, c.id)
		if err != nil {
			return nil, err
		}
		identity, err := r.Open(ctx, c.id)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			out.Unopened = append(out.Unopened, child.Name)
			continue
		}
		if blobs[c.id], err = keys.Seal(identity, to); err != nil {
			return nil, err
		}
		out.Rewrapped = append(out.Rewrapped, child.Name)
	}
	return blobs, nil
}

// replaceSealed stores the blobs sealed anew. A child that came or changed
// meanwhile would stay sealed to the old key, so it stops the rotation.
func replaceSealed(g access.Grant, parent agents.Record, before []sealedChild,
	blobs map[schemas.EntityID][]byte) error {
	now, err := sealedTo(g.Tx(), parent.ID)
	if err != nil {
		return err
	}
	known := map[schemas.EntityID][]byte{}
	for _, c := range before {
		known[c.id] = c.sealed
	}
	for _, c := range now {
		if !bytes.Equal(known[c.id], c.sealed) {
			return schemas.Conflictf("the children of %s changed during the rotation; nothing was written",
				parent.Name).
				Try("repeat: cordelia key rotate %s", parent.Name)
		}
		if blobs[c.id] == nil {
			continue
		}
		if _, err := g.Tx().Exec(updateSealed, blobs[c.id], c.id); err != nil {
			return fmt.Errorf("seal keys anew: %w", err)
		}
	}
	return nil
}
