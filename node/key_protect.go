package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// protectTool is what the audit record calls a change of a passphrase.
const protectTool = "key_protect"

// protection is the detail of that audit entry.
type protection struct {
	Key    uint32 `json:"key"`  // its number
	Digest string `json:"file"` // of the key file under the new passphrase
}

// ProtectKey puts the person's key file under a passphrase, another one if it has
// one. Errors: CodeDenied unless a person asks; CodeConflict while a rotation of the key
// is unfinished, CodeUnauthenticated when one ended meanwhile, CodeNotFound when the file
// went. The caller clears the passphrase.
//
// The audit entry decides: the new file lies beside the old one before the transaction
// commits and takes its place after that, or goes. After a kill at any point the next
// command of the person does the same, so a key has the passphrase of its last entry.
func (n *Node) ProtectKey(ctx context.Context, person access.Principal, r *Keyring,
	passphrase []byte) (path string, err error) {
	path = n.Home.HumanKey()
	f, err := r.load(path)
	if err != nil {
		return "", err
	}
	defer f.Identity.Erase()
	// Before the transaction: what takes some tenths of a second must not take them of
	// every writer's turn.
	protected, err := keys.Protect(f, passphrase)
	if err != nil {
		return "", err
	}
	err = n.offerProtection(ctx, person, f, protected)
	left := n.finishProtection(context.WithoutCancel(ctx))
	if err == nil && left != nil {
		left = schemas.Errorf(schemas.CodeUnavailable,
			"the new passphrase is recorded, and its file is not in its place yet").
			Try("see to the folder of your keys and its disk, then run: cordelia key info, which puts it there").
			Because(left)
	}
	return path, errors.Join(err, left)
}

// offerProtection lays the key file beside the old one and records that it is to take its
// place.
func (n *Node) offerProtection(ctx context.Context, person access.Principal, f keys.File,
	protected keys.Protected) error {
	path := n.Home.HumanKey()
	op := access.Op{Tool: protectTool, Effect: access.Write, InPerson: true, Human: true}
	return n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		if _, err := keys.ReadHeader(path + NextKey); !errors.Is(err, schemas.ErrNotFound) {
			return schemas.Conflictf(
				"a rotation of your key is not finished, and the new key has the protection of the old one").
				Try("finish it with cordelia key rotate, then run cordelia key passphrase again").Because(err)
		}
		if keys.Offered(path) { // which may be agreed to, so this must not take its place
			return schemas.Conflictf("another change of your key's passphrase is under way").Try(
				"run the command again")
		}
		if err := g.Audit(string(f.EntityID), protection{f.KeySeq, protected.Digest()}); err != nil {
			return err
		}
		return protected.Offer(path)
	})
}

// finishProtection ends a change of the person's passphrase that ended, or was killed,
// before its file was in its place. Where nothing lies beside the key that costs one look.
func (n *Node) finishProtection(ctx context.Context) error {
	path := n.Home.HumanKey()
	if !keys.Offered(path) {
		return nil
	}
	// What a read has seen is on disk; a file must not rest on an entry that may still
	// be lost.
	var recorded string
	if err := n.Look(ctx, "key_settle", func(g access.Grant) (err error) {
		recorded, err = agreedProtection(g)
		return err
	}); err != nil {
		return err
	}
	return n.Routine(ctx, "key_settle", func(g access.Grant) error { // in turn with offers
		now, err := agreedProtection(g)
		if err != nil || now != recorded { // another change came between, and finishes by itself
			return err
		}
		return keys.FinishProtection(path, recorded)
	})
}

// agreedProtection is the digest in the last entry about the person's passphrase, "" if
// there is none.
func agreedProtection(g access.Grant) (string, error) {
	human, err := agents.InspectHuman(g.Tx())
	if errors.Is(err, schemas.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	last, err := events.AuditFilter{Action: protectTool, Target: string(human)}.Newest(g.Tx(), 1)
	if err != nil || len(last) == 0 || len(last[0].Detail) == 0 {
		return "", err
	}
	var agreed protection
	if err := json.Unmarshal(last[0].Detail, &agreed); err != nil {
		return "", fmt.Errorf("audit entry %d: %w", last[0].Seq, err)
	}
	return agreed.Digest, nil
}

// dropUnfinished clears away what processes left that were killed while they made key files.
func (n *Node) dropUnfinished() error {
	now := n.Now()
	return errors.Join(keys.DropUnfinished(filepath.Dir(n.Home.HumanKey()), now),
		keys.DropUnfinished(n.Home.AgentKeys(), now))
}
