package events

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	strictjson "github.com/go-json-experiment/json"

	"cordelia/internal/merkle"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Proof shows to a reader that has a checkpoint, and not the database, that an entry is in the
// record; with an older checkpoint also that the newer one continues it.
type Proof struct {
	Entry       string   `json:"entry"` // the bytes of the leaf: JSON
	Detail      string   `json:"detail,omitempty"`
	Salt        string   `json:"salt,omitempty"` // base64, of the detail's hash
	Inclusion   []string `json:"inclusion"`      // base64 hashes, RFC 6962 §2.1.1
	Checkpoint  string   `json:"checkpoint"`
	Older       string   `json:"older,omitempty"`       // checkpoint
	Consistency []string `json:"consistency,omitempty"` // base64 hashes, RFC 6962 §2.1.2
}

// MaxProof is how many bytes a proof may have.
const MaxProof = 1 << 20

// Prove makes the proof of entry seq for checkpoint c, which must cover it, and
// for an older one if given. Errors: CodeNotFound when there is no such entry in
// c, CodeUnavailable when the record does not hold c or older.
func Prove(tx *store.Tx, seq int64, c Checkpoint, older *Checkpoint) (Proof, error) {
	p := Proof{Checkpoint: c.Text()}
	if seq < 1 || seq > c.Size() {
		return p, schemas.NotFoundf("the newest checkpoint covers entries 1 to %d, not %d", c.Size(), seq).
			Try("sign a newer one, if the entry is there: cordelia audit checkpoint")
	}
	rows, err := tx.Query(auditFrom, seq, 1)
	found, err := store.Collect(rows, err, scanLeaf)
	if err != nil {
		return p, err
	}
	var prev []byte
	if err := tx.QueryRow(leafOf, seq-1).Scan(&prev); err != nil && seq > 1 {
		return p, departs(err)
	}
	if len(found) == 0 {
		return p, departs(nil)
	}
	if _, err := found[0].verify(seq, prev); err != nil {
		return p, departs(err)
	}
	as, _ := found[0].as(seq, prev)
	entry, err := json.Marshal(as)
	if err != nil {
		return p, err
	}
	p.Entry = string(entry)
	if found[0].detail != nil {
		p.Detail, p.Salt = *found[0].detail, encode(found[0].salt)
	}
	path, err := merkle.Inclusion(seq-1, c.Size(), subtree(tx))
	if err != nil {
		return p, departs(err)
	}
	p.Inclusion = texts(path)
	if older != nil {
		if err := p.continues(tx, c, *older); err != nil {
			return p, err
		}
	}
	if _, err := p.check(); err != nil {
		return p, departs(err)
	}
	return p, nil
}

// continues adds to a proof that the record of c continues that of older.
func (p *Proof) continues(tx *store.Tx, c, older Checkpoint) error {
	if older.Size() > c.Size() {
		return schemas.Invalidf("the checkpoint to begin with covers %d entries, the newest %d", older.Size(),
			c.Size()).
			Try("sign a newer one: cordelia audit checkpoint")
	}
	path, err := merkle.Consistency(older.Size(), c.Size(), subtree(tx))
	if err != nil {
		return departs(err)
	}
	p.Older, p.Consistency = older.Text(), texts(path)
	return nil
}

func departs(err error) error {
	return schemas.Errorf(schemas.CodeUnavailable,
		"the audit record does not hold its newest checkpoint, so nothing can be proven").
		Try("find out what was changed: cordelia audit verify").Because(err)
}

// Proved is what a proof shows.
type Proved struct {
	Entry      Recorded
	Seq        int64
	Checkpoint Checkpoint
	Older      *Checkpoint
}

// CheckProof reads a proof and checks it against the checkpoints in it. Whether
// their node is the right one the caller must know. Errors: CodeInvalid.
func CheckProof(raw []byte) (Proved, error) {
	var p Proof
	err := fmt.Errorf("%d bytes are too many", len(raw))
	if len(raw) <= MaxProof {
		err = strictjson.Unmarshal(raw, &p, strictjson.RejectUnknownMembers(true))
	}
	var out Proved
	if err == nil {
		out, err = p.check()
	}
	if err != nil {
		return out, schemas.Invalidf("the proof does not hold: %v", err).
			Expecting("a file that cordelia audit prove wrote").Try("have it made again").Because(err)
	}
	return out, nil
}

func (p Proof) check() (out Proved, err error) {
	if out.Checkpoint, err = ParseCheckpoint([]byte(p.Checkpoint)); err != nil {
		return out, err
	}
	if err := p.checkEntry(&out); err != nil {
		return out, err
	}
	err = p.checkOlder(&out)
	return out, err
}

// checkEntry checks that the checkpoint holds the entry, and reads the entry.
func (p Proof) checkEntry(out *Proved) error {
	var l leaf
	if err := strictjson.Unmarshal([]byte(p.Entry), &l, strictjson.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("its entry is no audit entry: %w", err)
	}
	// Only the text that was hashed may be shown as the entry.
	again, err := json.Marshal(l)
	if err != nil || string(again) != p.Entry {
		return fmt.Errorf("its entry is not written as entries are")
	}
	path, err := hashes(p.Inclusion)
	if err != nil {
		return err
	}
	c := out.Checkpoint
	if err := merkle.CheckInclusion(path, l.Seq-1, c.Size(), merkle.Leaf([]byte(p.Entry)), c.Edge.Root()); err != nil {
		return fmt.Errorf("entry %d is not in the checkpoint: %w", l.Seq, err)
	}
	if p.Detail != "" || p.Salt != "" {
		salt, err := base64.StdEncoding.DecodeString(p.Salt)
		if err != nil || len(salt) != saltSize || encode(hashDetail(salt, []byte(p.Detail))) != l.DetailHash {
			return fmt.Errorf("the detail is not that of entry %d", l.Seq)
		}
	}
	via, err := json.Marshal(l.Via)
	if err != nil {
		return err
	}
	out.Seq, out.Entry = l.Seq, Recorded{Seq: l.Seq, At: l.At, Time: (Checkpoint{At: l.At}).Time().Format(stampLayout),
		Actor: l.Actor, Via: via, Action: l.Action, Target: l.Target, Decision: l.Decision}
	if p.Detail != "" {
		out.Entry.Detail = asJSON(p.Detail)
	}
	return nil
}

// checkOlder checks that the checkpoint continues the older one, if there is one.
func (p Proof) checkOlder(out *Proved) error {
	if p.Older == "" {
		if len(p.Consistency) > 0 {
			return fmt.Errorf("it has no older checkpoint to continue")
		}
		return nil
	}
	older, err := ParseCheckpoint([]byte(p.Older))
	if err != nil {
		return err
	}
	path, err := hashes(p.Consistency)
	if err != nil {
		return err
	}
	c := out.Checkpoint
	if err := merkle.CheckConsistency(path, older.Size(), c.Size(), older.Edge.Root(), c.Edge.Root()); err != nil {
		return fmt.Errorf("the checkpoint does not continue the older one: %w", err)
	}
	out.Older = &older
	return nil
}

func texts(list []merkle.Hash) []string {
	out := make([]string, len(list))
	for i, h := range list {
		out[i] = encode(h[:])
	}
	return out
}

func hashes(list []string) ([]merkle.Hash, error) {
	out := make([]merkle.Hash, len(list))
	for i, text := range list {
		h, err := parseHash(text)
		if err != nil {
			return nil, err
		}
		out[i] = h
	}
	return out, nil
}
