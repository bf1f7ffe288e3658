package node

import (
	"context"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// The auditor's operations are the person's alone: agents are what is audited
// (INV-AUDITOR).
var auditOp = access.Op{Tool: "audit", Effect: access.Read, Human: true, InPerson: true}

// AuditPage is how many entries one call reads at most.
const AuditPage = 1000

// FromFirst has AuditTail read from the first entry on.
const FromFirst = -1

// AuditTail reads the newest entries that match, or with after those after
// that number, oldest first, at most limit and AuditPage, but for one more, which tells that there are
// more; next is what to read after from there on. Entries about messages between roles come with these. The actor,
// and whom entries are about, may be given as a name or the beginning of an id, the target by the end of its id.
func (n *Node) AuditTail(ctx context.Context, person access.Principal, f events.AuditFilter, after int64,
	limit int) (tail []Tailed, next int64, err error) {
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		for _, who := range []*schemas.EntityID{&f.Actor, &f.About} {
			if *who, err = entityOf(g, *who); err != nil {
				return err
			}
		}
		limit = min(limit, AuditPage+1)
		var list []events.Recorded
		if after != 0 {
			list, err = f.After(g.Tx(), max(after, 0), limit)
		} else {
			list, err = f.Newest(g.Tx(), limit)
		}
		if after != 0 && len(list) == limit { // there may be more
			next = list[len(list)-1].Seq
		} else if err == nil {
			next, err = events.LastAudit(g.Tx())
		}
		if err == nil {
			tail, err = withMessages(g.Tx(), list)
		}
		return err
	})
	return tail, next, err
}

// entityOf is the entity that ref names. One that is gone is named by its whole id. Errors: CodeNotFound,
// CodeConflict.
func entityOf(g access.Grant, ref schemas.EntityID) (schemas.EntityID, error) {
	if ref == "" || ref == access.NodeEntity {
		return ref, nil
	}
	id, err := g.Resolve(string(ref))
	if err != nil && schemas.IsAgentID(string(ref)) {
		return ref, nil
	}
	return id, err
}

// VerifyAudit verifies the audit record of this node against its checkpoints, here and
// elsewhere, and every message between roles against the record. It changes nothing.
func (n *Node) VerifyAudit(ctx context.Context, person access.Principal) (v events.Verified, err error) {
	if err := n.Auth.Do(ctx, person, auditOp, func(access.Grant) error { return nil }); err != nil {
		return v, err
	}
	s := n.checkpointSigner()
	files, err := CheckpointFiles(append([]string{s.Dir}, s.Copies...)...)
	if err != nil {
		return v, err
	}
	if n.Store.Path() == "" { // a server's
		err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
			v, err = verifyAuditIn(g.Tx(), s.Place, files, false)
			return err
		})
		return v, err
	}
	return VerifyAuditFile(ctx, n.Home.Database(), s.Place, files, false)
}

// Prove makes the proof of entry seq for the node's newest checkpoint, and that
// this continues older, if given.
func (n *Node) Prove(ctx context.Context, person access.Principal, seq int64,
	older *events.Checkpoint) (p events.Proof, err error) {
	newest, err := n.checkpointSigner().Newest()
	if err != nil {
		return p, err
	}
	if newest == nil {
		return p, schemas.NotFoundf("there is no checkpoint yet to prove anything for").Try(
			"sign one: cordelia audit checkpoint")
	}
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		p, err = events.Prove(g.Tx(), seq, *newest, older)
		return err
	})
	return p, err
}

// VerifyAuditFile verifies the audit record in the database file at path, of
// which no process needs to run, against files of checkpoints, and every message
// between roles against the record; deep compares what is in force with the record,
// too, if the record is sound. place is "" for the file of a home, else events.AnyPlace.
// It changes nothing. Errors: CodeUnavailable when the file cannot be read at all.
func VerifyAuditFile(ctx context.Context, path, place string, files []events.CheckpointFile,
	deep bool) (v events.Verified, err error) {
	_, err = store.VerifyLive(ctx, path, func(tx *store.Tx) error {
		v, err = verifyAuditIn(tx, place, files, deep)
		return err
	})
	return v, err
}

// VerifyAuditDatabase is VerifyAuditFile of the PostgreSQL database at address.
func VerifyAuditDatabase(ctx context.Context, address string, files []events.CheckpointFile,
	deep bool) (v events.Verified, err error) {
	s, err := store.Open(ctx, store.Options{URL: address})
	if err != nil {
		return v, err
	}
	defer s.Close() //nolint:errcheck // only read
	place, err := s.Place(ctx)
	if err != nil {
		return v, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		v, err = verifyAuditIn(tx, place, files, deep)
		return err
	})
	return v, err
}

func verifyAuditIn(tx *store.Tx, place string, files []events.CheckpointFile, deep bool) (events.Verified, error) {
	v, err := events.Verify(tx, place, files)
	if err != nil {
		return v, err
	}
	if err := verifyMessages(tx, &v); err != nil || !deep || !v.Sound() {
		return v, err
	}
	return v, verifyDeep(tx, &v)
}
