package review

import (
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// Limits of proposals.
const (
	MaxProposals  = 20                  // of one agent, that wait
	proposalWaits = 14 * 24 * time.Hour // for a decision
)

// batchPrefix, before the name of an agent, names all that it proposes.
const batchPrefix = "proposals/"

// Proposal is a write that waits for a decision.
type Proposal struct {
	ID       string
	Deciders []string // names of those who may decide
}

// Try is what an agent proposes.
type Try struct {
	Item       schemas.ItemID
	Staging    schemas.GroupID // where it waits; "" = it lies in its place
	Target     schemas.GroupID // "" = the agent's own memory
	Supersedes schemas.ItemID  // "" = nothing
	Added      bool            // Item was written just now, to be proposed
}

// proposal is a row.
type proposal struct {
	Try
	id        string
	author    schemas.EntityID
	person    bool
	state     schemas.ReviewState
	decidedBy schemas.EntityID
	result    schemas.ItemID
	at        int64
}

func scanProposal(r *sql.Rows) (p proposal, err error) { return p, r.Scan(p.dest()...) }

func (p *proposal) dest() []any {
	return []any{&p.id, &p.author, &p.Item, &p.Staging, &p.Target, &p.Supersedes, &p.person, &p.Added, &p.state,
		&p.decidedBy, &p.result, &p.at}
}

// Stage makes the group in which what the actor proposes waits, once, and gives it.
func Stage(g access.Grant) (schemas.GroupID, error) {
	self, err := g.Profile(g.Actor())
	if err != nil {
		return "", err
	}
	id := schemas.GroupID(fmt.Sprintf("%s-%s-proposals", access.GroupStaging, self.AgentID))
	var one int
	err = g.Tx().QueryRow(selectStaging, id).Scan(&one)
	if errors.Is(err, store.ErrNoRows) {
		return id, memory.CreateStaging(g, id, self.AgentID, self.ParentEntityID)
	}
	if err != nil {
		return "", fmt.Errorf("read staging group: %w", err)
	}
	return id, nil
}

// Propose puts what the actor wrote up for a decision (INV-PROPOSAL). The same words
// wait once. Errors: CodeBusy while MaxProposals of the agent wait.
func Propose(g access.Grant, t Try) (Proposal, error) {
	self, err := g.Profile(g.Actor())
	if err != nil {
		return Proposal{}, err
	}
	items, err := memory.Get(g, []schemas.ItemID{t.Item})
	if err != nil {
		return Proposal{}, err
	}
	out := Proposal{ID: schemas.NewID()}
	p := proposal{Try: t}
	if t.Supersedes != "" {
		if p.person, err = memory.IsPersons(g, t.Supersedes); err != nil {
			return out, err
		}
	}
	for _, who := range reviewers(self.ParentEntityID, g.Root()) {
		if !p.person || !schemas.IsAgentID(string(who)) {
			out.Deciders = append(out.Deciders, nameOf(g, who))
		}
	}
	words := saysHash(items[0])
	// the same words wait already
	err = g.Tx().QueryRow(selectProposed, g.Actor(), t.Target, t.Supersedes, words).Scan(&out.ID)
	if err == nil {
		if t.Staging != "" {
			err = memory.Discard(g, []schemas.ItemID{t.Item})
		}
		return out, err
	}
	if !errors.Is(err, store.ErrNoRows) {
		return out, fmt.Errorf("read proposals: %w", err)
	}
	open, err := openProposals(g, out.Deciders)
	if err != nil {
		return out, err
	}
	if _, err := g.Tx().Exec(insertProposal, out.ID, g.Actor(), t.Item, t.Staging, t.Target, t.Supersedes, words,
		p.person, t.Added,
		g.Tx().Micros()); err != nil {
		return out, fmt.Errorf("write proposal: %w", err)
	}
	if err := g.Audit("review/"+out.ID, map[string]any{"state": schemas.ReviewPending, "item": t.Item,
		"target":     t.Target,
		"supersedes": t.Supersedes}); err != nil || open > 0 {
		return out, err // the reviewers know that something of the agent waits
	}
	return out, askReviewers(g, reviewers(self.ParentEntityID, g.Root()),
		schemas.ReviewRequested{GroupID: t.Target, AgentID: self.AgentID, Items: 1})
}

// askReviewers emits to each reviewer that something waits.
func askReviewers(g access.Grant, list []schemas.EntityID, asked schemas.ReviewRequested) error {
	for _, reviewer := range list {
		if err := g.Emit(events.EntityStream(reviewer), schemas.EventReviewRequested, asked); err != nil {
			return err
		}
	}
	return nil
}

// openProposals counts the actor's proposals that wait, and refuses one more at MaxProposals.
func openProposals(g access.Grant, deciders []string) (open int, err error) {
	if err := g.Tx().QueryRow(countProposals, g.Actor()).Scan(&open); err != nil {
		return open, fmt.Errorf("count proposals: %w", err)
	}
	if open >= MaxProposals {
		return open, schemas.Errorf(schemas.CodeBusy,
			"%d proposals of this agent wait for a decision, so it proposes no more", open).
			Expecting("at most %d", MaxProposals).
			Try("wait until %s decided: review.closed comes with %s", strings.Join(deciders, " or "),
				schemas.Tool("events_poll"))
	}
	return open, nil
}

// nameOf is the name of an entity, or its id.
func nameOf(g access.Grant, id schemas.EntityID) string {
	if who, err := g.Profile(id); err == nil && who.Name != "" {
		return who.Name
	}
	return string(id)
}

// findProposals gives the proposals that an id names, if the actor may see them: one, or
// with batchPrefix all of an agent that wait. Errors: CodeNotFound for any other id.
func findProposals(g access.Grant, id string) ([]proposal, error) {
	query, ref := selectProposal, id
	if name, ok := strings.CutPrefix(id, batchPrefix); ok {
		agent, err := g.Resolve(name)
		if errors.Is(err, schemas.ErrNotFound) {
			return nil, nothingWaits(id)
		}
		if err != nil {
			return nil, err
		}
		query, ref = selectProposalsOf, string(agent)
	}
	rows, err := g.Tx().Query(query, ref)
	found, err := store.Collect(rows, err, scanProposal)
	if err != nil {
		return nil, fmt.Errorf("read proposals: %w", err)
	}
	if len(found) == 0 {
		return nil, nothingWaits(id)
	}
	for _, p := range found {
		if decides, err := p.decides(g); err != nil || !decides {
			return nil, errors.Join(err, nothingWaits(id))
		}
	}
	return found, nil
}

// decides reports whether the actor is the author's parent or the human above it.
func (p proposal) decides(g access.Grant) (bool, error) {
	chain, err := g.ChainOf(p.author)
	if err != nil || len(chain) < 2 {
		return false, err
	}
	return slices.Contains([]schemas.EntityID{chain[0].ID, chain[len(chain)-2].ID}, g.Actor()), nil
}

// shown is the item of p and the hash that stands for all that approving p does.
func (p proposal) shown(g access.Grant) (memory.Item, []byte, error) {
	items, err := memory.Get(g, []schemas.ItemID{p.Item})
	if err != nil {
		return memory.Item{}, nil, err
	}
	h := sha256.New()
	h.Write(shownHash(items[0], p.Target)) //nolint:errcheck // never fails
	h.Write([]byte(p.Supersedes))          //nolint:errcheck // never fails
	return items[0], h.Sum(nil), nil
}

// personNeeded says why the actor may not approve p for being an agent, "" if it may.
func (p proposal) personNeeded(g access.Grant, item memory.Item, tainted bool) (string, error) {
	if p.person && !g.IsHuman() {
		return "a person wrote or released what it is to supersede", nil
	}
	return personNeeded(g, row{}, item, tainted)
}

// proposalState is where a proposal stands, also after it was decided.
func proposalState(g access.Grant, id string) (schemas.ReviewState, error) {
	list, err := findProposals(g, id)
	if err != nil {
		return "", err
	}
	return list[0].state, nil
}

// decideProposals decides over all that a decision names, as it was shown.
func decideProposals(g access.Grant, d Decision, tainted bool) (Decided, row, error) {
	list, err := findProposals(g, d.ID)
	if err == nil {
		err = mayReview(g, list[0].author)
	}
	if err == nil {
		err = mayDecide(g, d, list, tainted)
	}
	if err != nil {
		return Decided{}, row{}, err
	}
	out := Decided{ID: d.ID}
	closed := schemas.ReviewClosed{GroupID: list[0].Target, AgentID: list[0].author}
	var done []string
	for _, p := range list {
		one, err := p.decide(g, d)
		if err != nil {
			return Decided{}, row{}, err
		}
		if len(list) == 1 {
			out = one
		}
		if out.State = one.State; d.Approve {
			closed.Approved++
			done = append(done, fmt.Sprintf("%s as %s", p.id, one.Item))
		} else {
			closed.Rejected++
			done = append(done, p.id)
		}
	}
	if len(list) > 1 {
		out.Note = schemas.Hintf("%s", strings.Join(done, ", "))
	}
	return out, row{}, g.Emit(events.EntityStream(list[0].author), schemas.EventReviewClosed, closed)
}

// mayDecide refuses a decision over what was decided already and, if it approves, over
// other content than was shown or what a person has to approve.
func mayDecide(g access.Grant, d Decision, list []proposal, tainted bool) error {
	all := sha256.New()
	var now []byte
	for _, p := range list {
		if p.state != schemas.ReviewPending {
			return work.AlreadyDecided(p.id, p.state)
		}
		if !d.Approve {
			continue
		}
		item, hash, err := p.shown(g)
		if err != nil {
			return err
		}
		reason, err := p.personNeeded(g, item, tainted)
		if err != nil {
			return err
		}
		if reason != "" {
			return schemas.Deniedf("%s",
				reason).Try("reject it, or ask the user to look: cordelia review").Because(schemas.ErrPerson)
		}
		all.Write(hash) //nolint:errcheck // never fails
		now = hash
	}
	if !d.Approve {
		return nil
	}
	if d.Hash == "" {
		return work.Hashless(d.ID)
	}
	if len(list) > 1 {
		now = all.Sum(nil)
	}
	if named, err := hex.DecodeString(d.Hash); err != nil || subtle.ConstantTimeCompare(named, now) != 1 {
		return work.OtherContent(d.ID)
	}
	return nil
}

// decide does what approving or rejecting p does: the item goes into its group and takes
// the place of another one, or it goes away.
func (p proposal) decide(g access.Grant, d Decision) (Decided, error) {
	out := Decided{ID: p.id}
	if !d.Approve {
		state, err := p.move(g, schemas.ReviewReject, g.Actor(), d.Reason, "")
		out.State = string(state)
		return out, errors.Join(err, p.discard(g))
	}
	result := p.Item
	if p.Staging != "" {
		w, err := memory.Approve(g, p.Item, p.Target)
		if err != nil {
			return out, err
		}
		result, out.Status, out.With = w.ID, w.Status, w.With
	}
	if p.Supersedes != "" {
		if err := memory.Succeed(g, result, p.Supersedes); err != nil {
			return out, err
		}
		out.Status, out.With = "", nil // what it takes the place of is no conflict
	}
	if p.Staging != "" {
		if err := memory.Discard(g, []schemas.ItemID{p.Item}); err != nil {
			return out, err
		}
	}
	out.Item = result
	state, err := p.move(g, schemas.ReviewApprove, g.Actor(), d.Reason, result)
	out.State = string(state)
	return out, err
}

// discard takes away what was written only to be proposed.
func (p proposal) discard(g access.Grant) error {
	switch {
	case p.Staging != "":
		return memory.Discard(g, []schemas.ItemID{p.Item})
	case p.Added && !g.IsNode():
		return memory.Drop(g, p.Item)
	}
	return nil
}

// move carries p along an edge.
func (p proposal) move(g access.Grant, on schemas.Trigger, by schemas.EntityID, reason string,
	result schemas.ItemID) (schemas.ReviewState, error) {
	return move(g, updateProposal, p.id, p.author, p.state, on, by, reason, result, map[string]any{"item": p.Item,
		"target": p.Target, "author": p.author, "supersedes": p.Supersedes})
}

// expireProposal ends a proposal that waited for too long.
func expireProposal(g access.Grant, l late, now agents.Monotonic) error {
	if !l.due(now) {
		if l.at.Boot == now.Boot {
			return nil
		}
		_, err := g.Tx().Exec(seeOverProposal, now.Boot, now.Micros, l.id)
		return err
	}
	rows, err := g.Tx().Query(selectProposal, l.id)
	found, err := store.Collect(rows, err, scanProposal)
	if err != nil || len(found) == 0 {
		return err
	}
	p := found[0]
	if _, err := p.move(g, schemas.ReviewExpire, access.NodeEntity, "no decision came in time", ""); err != nil {
		return err
	}
	if err := p.discard(g); err != nil {
		return err
	}
	return g.Emit(events.EntityStream(p.author), schemas.EventReviewClosed,
		schemas.ReviewClosed{GroupID: p.Target, AgentID: p.author, Expired: 1})
}
