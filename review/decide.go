package review

import (
	"crypto/subtle"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// row is a review with the return it belongs to.
type row struct {
	id, returnID string
	item         schemas.ItemID
	target       schemas.GroupID
	hash         []byte
	state        schemas.ReviewState
	decidedBy    schemas.EntityID
	decidedAt    int64
	reason       string
	result       schemas.ItemID
	person       bool // approves it, for what it is or its words were brought as
	rejected     bool // its words were; known of what is just handed in

	author     schemas.EntityID
	group      schemas.GroupID
	divergence schemas.Divergence
	sessions   int64
	at         int64
}

func scanRow(r *sql.Rows) (v row, err error) { return v, r.Scan(v.dest()...) }

func (v *row) dest() []any {
	return []any{&v.id, &v.returnID, &v.item, &v.target, &v.hash, &v.state, &v.decidedBy, &v.decidedAt, &v.reason,
		&v.result, &v.person,
		&v.author, &v.group, &v.divergence, &v.sessions, &v.at}
}

// Decision is what a reviewer says of one thing that waits.
type Decision struct {
	ID      string
	Approve bool
	Hash    string // of what was shown; not needed to reject staged memory
	Reason  string
}

// Decided is what became of it.
type Decided struct {
	ID     string
	State  string         // of the review, or of the work item
	Item   schemas.ItemID // the copy in the group
	Status memory.Status
	With   []schemas.ItemID
	Closed schemas.GroupID // the staging group that it was the last of
	Note   schemas.Hint    // what is still missing
}

// Limits of one decision.
const (
	MaxDecisions = 50 // in one transaction, which others wait for
	maxReason    = 500
)

// Decide does what a reviewer decided, all of it or nothing. rest names a staging
// group whose other items are rejected. An approved item is copied into its group
// with the reviewer's right to write there; what was rejected is removed, with its
// text, when all of its staging group is decided. tainted says that the process
// knows the actor's session to have read what comes from outside.
//
// Errors: CodeNotFound (nothing waits under an id, or it is hidden), CodeDenied
// (the author, or an agent where a person must decide), CodeConflict (another
// content than was shown, or decided already).
func Decide(g access.Grant, decisions []Decision, rest schemas.GroupID, tainted bool) ([]Decided, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if len(decisions) > MaxDecisions || len(decisions) == 0 && rest == "" {
		return nil, schemas.Invalidf("the call makes %d decisions", len(decisions)).
			Expecting("1 to %d, or reject_rest", MaxDecisions).
			Try("%s shows what waits; decide over more in further calls", schemas.Tool("review_list"))
	}
	var out []Decided
	var of []row // what each of out is about; empty for work
	seen := map[string]bool{}
	for i, d := range decisions {
		refuse := func(path, msg, next string) error {
			return schemas.Invalidf("nothing was decided").Try("%s", next).
				With(schemas.Violation{Path: fmt.Sprintf("/decisions/%d/%s", i, path), Msg: msg})
		}
		if seen[d.ID] {
			return nil, refuse("id", "is decided above already", "name each id once")
		}
		if len(d.Reason) > maxReason {
			return nil, refuse("reason", fmt.Sprintf("has %d bytes, more than %d", len(d.Reason), maxReason),
				"give a shorter reason")
		}
		seen[d.ID] = true
		var r row
		one, err := firstKind(d.ID, func(k kind) (done Decided, err error) {
			done, r, err = k.decide(g, d, tainted)
			return done, err
		})
		if err != nil {
			return nil, located(err, i)
		}
		out, of = append(out, one), append(of, r)
	}
	if rest != "" {
		others, err := rejectRest(g, rest)
		if err != nil {
			return nil, err
		}
		for _, r := range others {
			out, of = append(out, Decided{ID: r.id, State: string(schemas.ReviewRejected)}), append(of, r)
		}
	}
	return out, closeDone(g, out, of)
}

// closeDone ends the returns of which nothing waits any more, each once, and says so
// with the last that was decided of it.
func closeDone(g access.Grant, out []Decided, of []row) error {
	asked := map[string]bool{"": true}
	for i, r := range slices.Backward(of) {
		if asked[r.returnID] {
			continue
		}
		asked[r.returnID] = true
		done, err := closeIfDone(g, r)
		if err != nil {
			return err
		}
		if done {
			out[i].Closed = r.group
		}
	}
	return nil
}

// located says which decision an error is about.
func located(err error, i int) error {
	bad, ok := errors.AsType[*schemas.Error](err)
	if !ok || bad.Code == schemas.CodeInternal {
		return err
	}
	e := *bad
	return e.With(schemas.Violation{Path: fmt.Sprintf("/decisions/%d", i), Msg: "keeps all of them from being decided"})
}

// approve takes r's item over into its group, if it is what the reviewer was shown
// (INV-SHOWN), and if a person is here where one is needed.
func approve(g access.Grant, r row, hash string, tainted bool) (memory.Written, error) {
	items, err := memory.Get(g, []schemas.ItemID{r.item})
	if err != nil {
		return memory.Written{}, err
	}
	if hash == "" {
		return memory.Written{}, work.Hashless(r.id)
	}
	now := shownHash(items[0], r.target)
	shown, err := hex.DecodeString(hash)
	if err != nil || subtle.ConstantTimeCompare(shown, now) != 1 || subtle.ConstantTimeCompare(r.hash, now) != 1 {
		return memory.Written{}, work.OtherContent(r.id)
	}
	reason, err := personNeeded(g, r, items[0], tainted)
	if err != nil {
		return memory.Written{}, err
	}
	if reason != "" {
		return memory.Written{}, schemas.Deniedf("%s",
			reason).Try("reject it, or ask the user to look: cordelia review").Because(schemas.ErrPerson)
	}
	return memory.Approve(g, r.item, r.target)
}

// personNeeded says why the actor may not approve an item for being an agent, ""
// if it may (INV-PERSON).
func personNeeded(g access.Grant, r row, i memory.Item, tainted bool) (string, error) {
	if g.IsHuman() {
		return "", nil
	}
	if reason := forPerson(r, i); reason != "" {
		return reason, nil
	}
	return personForSession(g, tainted)
}

// personForSession says why an agent may approve nothing in this session, "" if it may.
func personForSession(g access.Grant, tainted bool) (string, error) {
	if g.IsHuman() {
		return "", nil
	}
	if !tainted {
		marked, err := memory.Tainted(g)
		if err != nil || !marked {
			return "", err
		}
	}
	return "this session has read what comes from outside, so a person approves", nil
}

func inPersonOnly() error {
	return schemas.Deniedf("a review is decided in person, not for another").Try(
		"call without as, or leave it to the agent you act for")
}

// mayReview asks whether the actor decides over what author wrote (INV-REVIEWER).
// That author is above or beside it says that it may see the staging group, so the
// refusal tells it nothing new.
func mayReview(g access.Grant, author schemas.EntityID) error {
	if author == g.Actor() {
		return schemas.Deniedf("an author does not review its own work").Try(
			"wait for the parent; review.closed comes with %s", schemas.Tool("events_poll"))
	}
	if len(g.Via()) > 0 {
		return inPersonOnly()
	}
	above, err := g.Holds(author)
	if err != nil {
		return err
	}
	if !above {
		return schemas.Deniedf("the author's parent or the human above it reviews this").Try(
			"leave it to them; %s shows what waits for you", schemas.Tool("review_list"))
	}
	return nil
}

// move carries r along an edge.
func (r row) move(g access.Grant, on schemas.Trigger, by schemas.EntityID, reason string,
	result schemas.ItemID) (schemas.ReviewState, error) {
	return move(g, updateReview, r.id, r.author, r.state, on, by, reason, result, map[string]any{"item": r.item,
		"target": r.target, "author": r.author, "hash": hex.EncodeToString(r.hash)})
}

// move carries what waits along an edge (INV-REVIEW-EDGE) with update, and writes into the audit
// record who did it and to what.
func move(g access.Grant, update, id string, author schemas.EntityID, from schemas.ReviewState, on schemas.Trigger,
	by schemas.EntityID, reason string, result schemas.ItemID, about map[string]any) (schemas.ReviewState, error) {
	to, ok := schemas.NextReview(from, on, access.InReview(by, author))
	if !ok {
		return to, work.AlreadyDecided(id, from)
	}
	n, err := g.Tx().Exec(update, to, by, g.Tx().Micros(), reason, result, id)
	if err != nil {
		return to, fmt.Errorf("write decision: %w", err)
	}
	if n != 1 {
		return to, work.AlreadyDecided(id, "")
	}
	about["state"], about["by"], about["result"] = to, by, result
	return to, g.Audit("review/"+id, about)
}

// rejectRest rejects what still waits in a staging group, at most MaxMemories.
func rejectRest(g access.Grant, group schemas.GroupID) ([]row, error) {
	rows, err := pending(g, group)
	if err != nil {
		return nil, err
	}
	// All of a staging group is one agent's.
	if err := mayReview(g, rows[0].author); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if _, err := r.move(g, schemas.ReviewReject, g.Actor(), "", ""); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// closeIfDone ends a return that has no waiting item any more: it deletes the text of items
// that were not approved, removes the members of the staging group, and notifies the author.
func closeIfDone(g access.Grant, r row) (bool, error) {
	tx := g.Tx()
	var waiting int
	closed := schemas.ReviewClosed{GroupID: r.group, AgentID: r.author}
	if err := tx.QueryRow(selectTally, r.returnID).Scan(&waiting, &closed.Approved, &closed.Rejected, &closed.Withdrawn,
		&closed.Expired); err != nil {
		return false, fmt.Errorf("read return: %w", err)
	}
	if waiting > 0 {
		return false, nil
	}
	rows, err := tx.Query(selectDropped, r.returnID)
	dropped, err := store.Collect(rows, err, func(r *sql.Rows) (id schemas.ItemID, err error) {
		return id, r.Scan(&id)
	})
	if err != nil {
		return false, fmt.Errorf("read reviews: %w", err)
	}
	if err := memory.Discard(g, dropped); err != nil {
		return false, err
	}
	author, err := g.Profile(r.author)
	if err != nil {
		return false, err
	}
	if err := memory.CloseStaging(g, r.group, author.ParentEntityID, r.author); err != nil {
		return false, err
	}
	if _, err := tx.Exec(closeReturn, tx.Micros(), r.returnID); err != nil {
		return false, fmt.Errorf("close return: %w", err)
	}
	if closed.Expired > 0 {
		if err := tellReviewers(g, author, closed); err != nil {
			return false, err
		}
	}
	return true, g.Emit(events.EntityStream(r.author), schemas.EventReviewClosed, closed)
}

// find reads a review the actor may see.
func find(g access.Grant, id string) (row, error) {
	groups, err := readable(g)
	if err != nil {
		return row{}, err
	}
	var r row
	err = g.Tx().QueryRow(selectReview, groups, id).Scan(r.dest()...)
	if errors.Is(err, store.ErrNoRows) {
		return r, nothingWaits(id)
	}
	if err != nil {
		return r, fmt.Errorf("read review: %w", err)
	}
	return r, nil
}

// pending lists what waits in a staging group the actor may see.
func pending(g access.Grant, group schemas.GroupID) ([]row, error) {
	groups, err := readable(g)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectPending, groups, group)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read reviews: %w", err)
	}
	if len(found) == 0 {
		return nil, nothingWaits(string(group))
	}
	return found, nil
}

// readable lists the groups the actor may read, for json_each.
func readable(g access.Grant) (string, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return "", err
	}
	return store.List(scope.Groups), nil
}

func nothingWaits(ref string) error {
	return schemas.NotFoundf("nothing waits for you under %q",
		ref).Expecting("the id of something that waits").Try("%s shows what waits", schemas.Tool("review_list"))
}
