package agents

import (
	"encoding/base64"
	"fmt"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// Rotation replaces an agent's keys.
type Rotation struct {
	schemas.KeyRotation
	Binding   []byte // of the new encryption key
	SignedOld []byte // by the old key; nil when it is lost or compromised
	SignedUp  []byte // by the parent; nil for a person
	SealedKey []byte // the new key, sealed to the parent
}

// Rotate puts a new key in place of an entity's; the id stays. The record must
// be signed by the old key and the parent, or by the parent alone with a reason
// (a person, who has no parent, signs with the old key). Tokens of the entity end
// with the transaction, and with its key what it could answer challenges with.
func Rotate(g access.Grant, in Rotation) (Record, error) {
	r, err := load(g.Tx(), in.EntityID)
	if err != nil {
		return r, err
	}
	if above, err := g.Holds(r.ID); err != nil {
		return r, err
	} else if !above && !g.IsNode() {
		return r, access.NotKnown(string(in.EntityID))
	}
	if in.OldSeq != r.Key.KeySeq || in.NewSeq != r.Key.KeySeq+1 {
		return r, schemas.Conflictf("the key of %s was rotated meanwhile", r.Name).Try("repeat: cordelia key rotate %s",
			r.Name)
	}
	if err := verifyRotation(g, r, in); err != nil {
		return r, err
	}
	tx := g.Tx()
	record := in.SigningBytes()
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{endKey, []any{tx.Micros(), r.ID, in.OldSeq}},
		{insertKey, []any{r.ID, in.NewSeq, in.NewPublicKey, in.NewEncPublicKey, in.Binding, tx.Micros(), in.Reason,
			record}},
		{updateKeys, []any{in.NewPublicKey, in.NewEncPublicKey, in.Binding, in.NewSeq, in.SealedKey, r.ID}},
		{deleteTokens, []any{r.ID}},
	} {
		if _, err := tx.Exec(step.sql, step.args...); err != nil {
			return r, fmt.Errorf("rotate key: %w", err)
		}
	}
	if err := g.RightsChanged(); err != nil {
		return r, err
	}
	r.Key = keys.Recipient{PublicKey: in.NewPublicKey, EncPublicKey: in.NewEncPublicKey, KeySeq: in.NewSeq,
		Binding: in.Binding}
	return r, g.Audit(string(r.ID), map[string]any{"seq": in.NewSeq, "reason": in.Reason,
		"signed_old":    base64.StdEncoding.EncodeToString(in.SignedOld),
		"signed_parent": base64.StdEncoding.EncodeToString(in.SignedUp)})
}

func verifyRotation(g access.Grant, r Record, in Rotation) error {
	msg := in.SigningBytes()
	if err := (keys.Recipient{PublicKey: in.NewPublicKey, EncPublicKey: in.NewEncPublicKey, KeySeq: in.NewSeq,
		Binding: in.Binding}).Verify(); err != nil {
		return err
	}
	if len(in.SignedOld) > 0 {
		if err := keys.Verify(r.Key.PublicKey, msg, in.SignedOld); err != nil {
			return err
		}
	}
	if r.Type == "" { // a person
		if len(in.SignedOld) == 0 {
			return schemas.Deniedf("a person's key is replaced with the old key alone").
				Try("put a backup of the key file in its place, then repeat: cordelia key rotate")
		}
		return nil
	}
	if len(in.SignedOld) == 0 && in.Reason == "" {
		return schemas.Invalidf("a rotation without the old key needs a reason").Expecting("compromised or lost")
	}
	parent, err := load(g.Tx(), r.Parent)
	if err != nil {
		return err
	}
	return keys.Verify(parent.Key.PublicKey, msg, in.SignedUp)
}
