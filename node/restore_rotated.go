package node

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// takeLaterKey takes the key of the person that the backup has, if it is later than the present
// one. It refuses a key that does not follow from the present one: a backup that somebody made up
// would bring another person in.
func (p *restorePlan) takeLaterKey(backup *store.Tx, now, was standing) error {
	if !was.human || was.seq <= now.seq {
		return nil
	}
	follows, err := rotatedSince(backup, now, was)
	if err != nil {
		return err
	}
	if was.node != "" || !follows {
		return schemas.Deniedf("the key of %s in the backup, number %d, is later than the present one, number %d, and "+
			"the backup's audit record has no rotation to it that is signed with the present one", was.Name, was.seq,
			now.seq).
			Try("restore another backup, or this one into a new folder with --home")
	}
	p.laterKeys[was.ID] = true
	return nil
}

// rotatedSince reports whether each rotation that leads from the present key of an entity to
// that in the backup is signed with the key before it.
func rotatedSince(backup *store.Tx, now, was standing) (bool, error) {
	all, err := keysOf(backup, was.ID)
	if err != nil {
		return false, err
	}
	signatures, err := rotationsOf(backup, was.ID)
	if err != nil {
		return false, err
	}
	seq, last := now.seq, now.public
	for _, k := range all {
		if k.seq <= now.seq {
			continue
		}
		rotation := schemas.KeyRotation{EntityID: was.ID, OldSeq: uint32(seq), NewSeq: uint32(k.seq),
			NewPublicKey: k.public, NewEncPublicKey: k.enc, Reason: k.reason}
		if k.seq != seq+1 || keys.Verify(last, rotation.SigningBytes(), signatures[k.seq]) != nil {
			return false, nil
		}
		seq, last = k.seq, k.public
	}
	key := keys.Recipient{PublicKey: was.public, EncPublicKey: was.enc, KeySeq: uint32(was.seq), Binding: was.binding}
	return seq == was.seq && bytes.Equal(last, was.public) && key.Verify() == nil, nil
}

// rotationsOf gives the signatures by the old key that the audit record has of an entity's
// rotations, by the number of the new key.
func rotationsOf(tx *store.Tx, id schemas.EntityID) (map[int64][]byte, error) {
	type rotated struct {
		Seq       int64  `json:"seq"`
		SignedOld []byte `json:"signed_old"`
	}
	rows, err := tx.Query(selectRotations, id)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (one rotated, err error) {
		var detail string
		if err := r.Scan(&detail); err != nil {
			return one, err
		}
		return one, json.Unmarshal([]byte(detail), &one)
	})
	if err != nil {
		return nil, fmt.Errorf("read rotations: %w", err)
	}
	signatures := map[int64][]byte{}
	for _, one := range list {
		signatures[one.Seq] = one.SignedOld
	}
	return signatures, nil
}
