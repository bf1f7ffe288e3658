package review

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

// Proof is what a return was signed with; the caller has verified it against the
// agent's key, and uses its challenge up in the same transaction.
type Proof struct {
	Statement []byte
	Signature []byte
}

// Returned is what became of a return.
type Returned struct {
	ID         string
	Divergence schemas.Divergence
	Sessions   int64 // apart from the node's chain
	Known      hot.Chain
	Group      schemas.GroupID // the staging group; "" if nothing new was brought
	Reviews    []string        // in the order of the memories
	Merged     []memory.Written
	Because    []string // why it waits for review
}

// Submit takes in what the actor brings back (INV-RETURN): it compares the chains,
// puts the memories into a staging group of their own, and merges them at once if
// the gate is open. Errors: CodeDenied for agents that are not autonomous,
// CodeNotFound (a target that is absent or hidden), CodeConflict (a broken chain,
// too many returns that wait).
func Submit(g access.Grant, b *Batch, p Proof) (Returned, error) {
	tx, me := g.Tx(), g.Actor()
	if tx == nil {
		return Returned{}, access.ErrNoGrant
	}
	self, err := mayReturn(g)
	if err != nil {
		return Returned{}, err
	}
	if err := hot.Verify(g, me); err != nil {
		return Returned{}, err
	}
	out := Returned{ID: schemas.NewID()}
	if out.Known, err = hot.ReadChain(g, me); err != nil {
		return Returned{}, err
	}
	out.Divergence, out.Sessions = compare(out.Known, b.sessions, b.chain)
	var before int
	if err := tx.QueryRow(selectBefore, me, b.digest[:], b.sessions, b.chain[:],
		len(b.drafts) > 0).Scan(&before); err != nil {
		return Returned{}, fmt.Errorf("read returns: %w", err)
	}
	if before > 0 {
		out.Divergence = schemas.ChainReplay
	}
	if len(b.drafts) == 0 {
		return out, record(g, b, p, out, tx.Micros())
	}
	fresh, waiting, err := b.fresh(g)
	if err != nil {
		return Returned{}, err
	}
	if len(fresh.drafts) == 0 {
		out.Reviews, out.Because = waiting, []string{"they wait already"}
		return out, record(g, b, p, out, tx.Micros())
	}
	if out.Group, err = stagingName(tx, me); err != nil {
		return Returned{}, err
	}
	if err := mayStage(g, b, me); err != nil {
		return Returned{}, err
	}
	if err := memory.CreateStaging(g, out.Group, me, self.ParentEntityID); err != nil {
		return Returned{}, err
	}
	if err := record(g, b, p, out, 0); err != nil {
		return Returned{}, err
	}
	if err := stage(g, fresh, self, &out); err != nil {
		return Returned{}, err
	}
	for i, id := range waiting {
		if id != "" {
			out.Reviews = slices.Insert(out.Reviews, i, id)
		}
	}
	return out, nil
}

// fresh gives b without the memories that wait for review already, as they are, and the reviews of
// those, each at the place of its memory.
func (b *Batch) fresh(g access.Grant) (*Batch, []string, error) {
	out := *b
	out.drafts, out.groups = nil, nil
	waiting := make([]string, len(b.drafts))
	for i, d := range b.drafts {
		id, err := alreadyWaiting(g, d, b.groups[i])
		if err != nil {
			return nil, nil, err
		}
		if waiting[i] = id; id == "" {
			out.drafts, out.groups = append(out.drafts, d), append(out.groups, b.groups[i])
		}
	}
	return &out, waiting, nil
}

// alreadyWaiting is the review of what the actor brought before that says what d does, "" if none waits.
func alreadyWaiting(g access.Grant, d *memory.Draft, group schemas.GroupID) (string, error) {
	type pair struct {
		id   string
		item schemas.ItemID
	}
	rows, err := g.Tx().Query(selectSameWaiting, wordsHash(d.Content()), g.Actor(), group)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (p pair, err error) { return p, r.Scan(&p.id, &p.item) })
	if err != nil {
		return "", fmt.Errorf("read what waits: %w", err)
	}
	for _, p := range found {
		if held, err := memory.Get(g, []schemas.ItemID{p.item}); err != nil {
			return "", err
		} else if d.Says(held[0]) {
			return p.id, nil
		}
	}
	return "", nil
}

// record writes the row and the audit entry of a return; closed is when it ended, 0 = it waits.
func record(g access.Grant, b *Batch, p Proof, out Returned, closed int64) error {
	if _, err := g.Tx().Exec(insertReturn, out.ID, g.Actor(), out.Group, out.Divergence, out.Sessions, b.sessions,
		b.chain[:], b.digest[:], p.Statement, p.Signature, g.Tx().Micros(), closed); err != nil {
		return fmt.Errorf("write return: %w", err)
	}
	return g.Audit("return/"+out.ID, map[string]any{"divergence": out.Divergence, "sessions": out.Sessions,
		"memories": len(b.drafts), "group": out.Group, "chain_hash": b.chain.String()})
}

// mayReturn refuses an agent that is always supervised: it has nothing to come back from.
func mayReturn(g access.Grant) (schemas.Agent, error) {
	self, err := g.Profile(g.Actor())
	if err != nil {
		return self, err
	}
	if self.AgentType == "" || !self.Capabilities.Autonomous {
		return self, schemas.Deniedf("only autonomous agents come back from work of their own").
			Try("write with %s; a parent that may can set autonomous with %s", schemas.Tool("memory_write_warm"),
				schemas.Other("agent_capabilities"))
	}
	return self, nil
}

// compare compares the chain an agent hands in with the node's.
func compare(known hot.Chain, sessions int64, chain hot.Hash) (schemas.Divergence, int64) {
	switch apart := sessions - known.SessionCount; {
	case apart > 0:
		return schemas.ChainGap, apart
	case apart < 0:
		return schemas.ChainFork, -apart
	case chain != known.ChainHash:
		return schemas.ChainFork, 0
	}
	return schemas.ChainMatch, 0
}

// stagingName is staging-{agent}-{time}, at a moment no other of the agent bears.
func stagingName(tx *store.Tx, agent schemas.EntityID) (schemas.GroupID, error) {
	for at := tx.Now(); ; at = at.Add(time.Microsecond) {
		name := schemas.GroupID(fmt.Sprintf("%s-%s-%s", access.GroupStaging, agent,
			strings.ToLower(at.UTC().Format("20060102T150405.000000Z"))))
		var one int
		err := tx.QueryRow(selectStaging, name).Scan(&one)
		if errors.Is(err, store.ErrNoRows) {
			return name, nil
		}
		if err != nil {
			return "", fmt.Errorf("name staging group: %w", err)
		}
	}
}

// mayStage asks whether the actor reads the groups it brings something for, and
// has not too much waiting already.
func mayStage(g access.Grant, b *Batch, me schemas.EntityID) error {
	open, err := openOf(g, me)
	if err != nil {
		return err
	}
	if len(open) >= MaxOpen {
		return schemas.Conflictf("%d returns of this agent wait for review", len(open)).
			Expecting("at most %d", MaxOpen).
			Try("wait for review.closed with %s, or take one back: %s", schemas.Tool("events_poll"),
				takeBack(open[0]))
	}
	var missing []schemas.Violation
	asked := map[schemas.GroupID]bool{}
	for i, group := range b.groups {
		readable, known := asked[group]
		if !known {
			err := g.Need(access.Need{Kind: access.KindRead, Layer: schemas.L2, Visibility: schemas.Group,
				Group: group})
			if err != nil && !errors.Is(err, schemas.ErrNotFound) {
				return err
			}
			readable = err == nil && !access.Reserved(group, "")
			asked[group] = readable
		}
		if !readable {
			missing = append(missing, schemas.Violation{Path: fmt.Sprintf("/memories/%d/group", i),
				Msg: "there is no such group here"})
		}
	}
	if len(missing) > 0 {
		return schemas.NotFoundf("nothing was handed in: not all of the groups are here").
			Try("%s shows your groups", schemas.Tool("memory_group", "action", "list")).With(missing...)
	}
	return nil
}

// stage writes the memories of b into their staging group, one review for each,
// and merges them if the gate is open.
func stage(g access.Grant, b *Batch, self schemas.Agent, out *Returned) error {
	rows := make([]row, len(b.drafts))
	for i, d := range b.drafts {
		item, err := memory.Stage(g, out.Group, d)
		if err != nil {
			return err
		}
		r := row{id: schemas.NewID(), returnID: out.ID, item: item, target: b.groups[i], state: schemas.ReviewPending,
			author: self.AgentID, group: out.Group, divergence: out.Divergence, sessions: out.Sessions}
		held, err := memory.Get(g, []schemas.ItemID{item})
		if err != nil {
			return err
		}
		r.hash = shownHash(held[0], r.target)
		words := wordsHash(held[0].Data)
		if r.rejected, r.person, err = before(g, self.AgentID, words); err != nil {
			return err
		}
		r.person = forPerson(r, held[0]) != ""
		if _, err := g.Tx().Exec(insertReview, r.id, r.returnID, r.item, r.target, r.hash, words,
			r.person); err != nil {
			return fmt.Errorf("write review: %w", err)
		}
		rows[i] = r
		out.Reviews = append(out.Reviews, r.id)
	}
	var err error
	if out.Because, err = gate(g, rows, self); err != nil {
		return err
	}
	if len(out.Because) == 0 {
		return merge(g, rows, out)
	}
	return askReviewers(g, reviewers(self.ParentEntityID, g.Root()), schemas.ReviewRequested{GroupID: out.Group,
		AgentID: self.AgentID, Items: len(rows), Divergence: out.Divergence})
}

// reviewers are an agent's parent and the human above it, once each.
func reviewers(parent, root schemas.EntityID) []schemas.EntityID {
	if parent == root {
		return []schemas.EntityID{root}
	}
	return []schemas.EntityID{parent, root}
}

// shownHash stands for all that an approval would take over of a staged item, and
// for where to. It reads what the item says, not what it says of itself.
func shownHash(i memory.Item, target schemas.GroupID) []byte {
	h := sha256.New()
	for _, field := range []string{"cordelia/v1/review", string(i.ID), string(i.Author), string(target), string(i.Type),
		string(i.Data),
		i.Subject, i.Key, i.ValidFrom, i.ValidTo, fmt.Sprint(i.Confidence), string(i.Provenance.Source)} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field)))) //nolint:errcheck // never fails
		h.Write([]byte(field))                                          //nolint:errcheck // never fails
	}
	return h.Sum(nil)
}
