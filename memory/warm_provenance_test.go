package memory

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// INV-PROVENANCE: a version carries who wrote it, verifiably.
func TestSignature(t *testing.T) {
	n := newWarmNode(t)
	key, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	d, err := Prepare(learning("signed words"), ada, func(m []byte) ([]byte, schemas.EntityID) {
		return key.Sign(m),
			ada
	})
	require.NoError(t, err)
	var w Written
	require.NoError(t, n.do(ada, access.Write, func(g access.Grant) (err error) { w, err = Put(g, d); return err }))
	p := n.read(ada, w.ID).Provenance
	require.Equal(t, ada, p.SignedBy)
	m := schemas.ItemProvenance{Author: ada, ItemID: w.ID}
	hash, err := hex.DecodeString(p.ContentHash)
	require.NoError(t, err)
	copy(m.ContentHash[:], hash)
	signature, err := base64.StdEncoding.DecodeString(p.Signature)
	require.NoError(t, err)
	require.NoError(t, keys.Verify(key.PublicKey(), m.SigningBytes(), signature))
}

// INV-PROVENANCE: who may change a person's private memory makes the words its own, or
// leaves what they are about.
func TestAPersonsWordsKeepTheirSubject(t *testing.T) {
	n := newWarmNode(t)
	n.sql(`UPDATE entities SET grants = '{"private": "read_write"}' WHERE id = ?`, lead)
	w := n.write(russell, learning("The deploy day is Friday"))
	about := Write{ID: w.ID, IfVersion: 1, Subject: "production password", Key: "policy"}
	_, err := n.tryWrite(lead, about)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Equal(t, 2, n.write(russell, about).Version)

	words := learning("The deploy day is Monday")
	words.ID, words.IfVersion, words.Subject, words.Key = w.ID, 2, "deploys", "day"
	n.write(lead, words)
	got := n.read(russell, w.ID)
	require.Equal(t, FromAgent, got.Provenance.Source)
	require.Equal(t, lead, got.Provenance.Author)
	about.IfVersion = 3
	n.write(lead, about)
}

// INV-SOVEREIGN: rows of private memory do not change for anyone else, even when
// a check before it is forgotten.
func TestPrivateRowsAreSovereign(t *testing.T) {
	n := newWarmNode(t)
	w := n.write(ada, learning("mine alone"))
	for _, statement := range []string{
		`UPDATE items SET data = '{}' WHERE id = ?1`, `DELETE FROM items WHERE id = ?1`,
		`UPDATE items SET owner = '` + string(eve) + `' WHERE id = ?1`,
		`UPDATE items SET visibility = 'public' WHERE id = ?1`,
		`INSERT INTO items(n, id, type, owner, author, visibility, group_id, scope, origin, parent, stale, version,
			data, name, tags,
			subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined,
			expires_at, source, provenance,
			thread, content_hash, terms, tokens, current, created_at, updated_at, deleted_at, deleted_by)
			SELECT n + 1000, id || 'x', type, owner, author, visibility, group_id, scope, origin, parent, stale,
			version, data, name, tags,
			subject, key, supersedes, superseded_by, valid_from, valid_to, confidence, validated, quarantined,
			expires_at, source, provenance,
			thread, x'00', terms, tokens, current, created_at, updated_at, deleted_at, deleted_by FROM items
			WHERE id = ?1`,
	} {
		err := n.do(eve, access.Write, func(g access.Grant) error {
			_, err := g.Tx().Exec(statement, w.ID)
			return err
		})
		require.ErrorContains(t, err, "INV-SOVEREIGN", statement)
	}
	n.group("team-a", ada, CulturePatch{}, bob)
	in := n.write(ada, inGroup(learning("ours"), "team-a"))
	err := n.do(bob, access.Write, func(g access.Grant) error {
		_, err := g.Tx().Exec(
			`UPDATE items SET visibility = 'private', group_id = '', data = '{"forged":1}' WHERE id = ?`, in.ID)
		return err
	})
	require.ErrorContains(t, err, "INV-SOVEREIGN", "what comes home must be unchanged")
}
