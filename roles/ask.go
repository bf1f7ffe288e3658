package roles

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// Ask is what waits for a person or a role.
type Ask struct {
	ID        string
	Workspace string
	Kind      schemas.AskKind
	Agent     schemas.EntityID // of the role that asks, or that it is about
	Asked     schemas.EntityID
	Title     string
	Shows     []string // lines: data that others wrote
	Outside   bool     // some of it comes from outside
	Hash      string   // of all that is shown: an approval names it
	Deadline  int64
	Then      schemas.AfterDeadline
	State     schemas.ReviewState
	Reason    string
	At        int64

	decision int64
	data     string // what an approval does
}

func scanAsk(row interface{ Scan(...any) error }) (a Ask, err error) {
	var shows string
	err = row.Scan(&a.ID, &a.Workspace, &a.Kind, &a.Agent, &a.Asked, &a.decision, &a.Title, &shows, &a.data, &a.Outside,
		&a.Hash, &a.Deadline, &a.Then, &a.State, &a.Reason, &a.At)
	if shows != "" {
		a.Shows = strings.Split(shows, "\n")
	}
	return a, err
}

// defaultWithin is how long what a role asks waits.
const defaultWithin = 24 * time.Hour

// open stores an ask and notifies the entity that is asked.
func (a Ask) open(g access.Grant, within time.Duration) (Ask, error) {
	now := g.Tx().Micros()
	a.ID, a.At, a.Deadline, a.State = schemas.NewID(), now, now+within.Microseconds(), schemas.ReviewPending
	a.Then = cmp.Or(a.Then, schemas.ThenEscalate)
	a.Hash = a.hash()
	if _, err := g.Tx().Exec(insertAsk, a.ID, a.Workspace, a.Kind, a.Agent, a.Asked, a.decision, a.Title,
		strings.Join(a.Shows, "\n"), cmp.Or(a.data, "{}"), a.Outside, a.Hash, a.Deadline, a.Then, now); err != nil {
		return a, fmt.Errorf("write what is asked: %w", err)
	}
	return a, a.notify(g)
}

// hash stands for all that an approval agrees to.
func (a Ask) hash() string {
	h := sha256.New()
	for _, text := range append([]string{"cordelia/v1/ask", a.ID, string(a.Kind), string(a.Agent), a.Title,
		a.data}, a.Shows...) {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (a Ask) notify(g access.Grant) error {
	e := schemas.ReviewRequested{GroupID: GroupOf(a.Workspace), AgentID: a.Agent, Items: 1, Ref: a.ID}
	if a.decision == 0 { // its agent asks, of its own accord
		var err error
		if _, _, e.Cause, err = lastCause(g, a.Agent); err != nil {
			return err
		}
	}
	return g.Emit(events.EntityStream(a.Asked), schemas.EventReviewRequested, e)
}

// escalate asks the role or person that m reports to: to see to an event, or to approve an action.
// Only one escalation of a role with the same type and cause waits at a time.
func (r *Roles) escalate(g access.Grant, w *World, m *Member, e Event, decision int64, d Decision) (string, error) {
	a := Ask{Workspace: w.Workspace.Workspace, Kind: schemas.AskEscalation, Agent: m.Agent, Asked: w.entity(d.Target),
		Title: e.Type + " escalated: " + d.Steps[len(d.Steps)-1].Step, decision: decision, Outside: e.Outside,
		Then: m.Asks.Then}
	if d.Approval {
		a.Kind, a.Title = schemas.AskApproval, fmt.Sprintf("%s asks to %s for %s", m.RoleID, d.Trigger, e.Type)
	}
	a.Shows = []string{m.RoleID + ": " + d.Reason, "sent by: " + sender(g, e)}
	if d.Approval {
		a.Shows = append(a.Shows, w.does(d, e))
	}
	if d.Withheld {
		a.Outside = false
		a.Shows = append(a.Shows, "the payload is withheld: it is more secret than "+m.RoleID+" may be told")
	} else {
		a.Shows = append(a.Shows, "payload: "+oneLine(string(e.Payload)))
	}
	if !d.Approval {
		var id string
		err := g.Tx().QueryRow(selectSameAsk, m.Agent, a.Asked, a.Title).Scan(&id)
		if err == nil || !errors.Is(err, store.ErrNoRows) {
			return id, err
		}
	}
	within, err := span(m.Asks.Within)
	if err != nil {
		within = defaultWithin
	}
	a, err = a.open(g, within)
	return a.ID, err
}

// maxShown bounds one line that is shown, in bytes.
const maxShown = 2000

func oneLine(text string) string {
	return schemas.Shorten(strings.Join(strings.Fields(text), " "), maxShown)
}

// Waiting lists what waits for the actor, and for a person also what waits for their agents, in
// order of arrival.
func Waiting(g access.Grant, after string, limit int) (list []Ask, more bool, err error) {
	if len(g.Via()) > 0 {
		return nil, false, nil // it is decided in person
	}
	rows, err := g.Tx().Query(selectAsks, g.Actor(), after, limit+1)
	list, err = store.Collect(rows, err, func(r *sql.Rows) (Ask, error) { return scanAsk(r) })
	if err != nil {
		return nil, false, fmt.Errorf("read what is asked: %w", err)
	}
	if len(list) > limit {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// Find gives one question that waits for the actor or for a descendant of it. CodeNotFound for
// any other actor, as for a missing one.
func Find(g access.Grant, id string) (Ask, error) {
	if g.Tx() == nil {
		return Ask{}, access.ErrNoGrant
	}
	a, err := scanAsk(g.Tx().QueryRow(selectAsk, id))
	if errors.Is(err, store.ErrNoRows) {
		return a, nothingAsked(id)
	}
	if err != nil {
		return a, fmt.Errorf("read what is asked: %w", err)
	}
	may, err := a.decides(g)
	if err == nil && !may {
		err = nothingAsked(id)
	}
	return a, err
}

func nothingAsked(id string) error {
	return schemas.NotFoundf("nothing waits for you under %q", id).Expecting("the id of something that waits").
		Try("%s shows what waits", schemas.Tool("review_list"))
}

// decides reports whether the actor decides over a (INV-ROLE-ASK): who was asked, or an
// ancestor of it, in person, and never the role it is about nor those below that.
func (a Ask) decides(g access.Grant) (bool, error) {
	if a.Asked != g.Actor() {
		above, err := g.Holds(a.Asked)
		if err != nil || !above {
			return false, err
		}
	}
	if len(g.Via()) > 0 || g.Actor() == a.Agent {
		return false, nil
	}
	chain, err := g.ChainOf(g.Actor())
	for _, link := range chain {
		if link.ID == a.Agent {
			return false, nil
		}
	}
	return err == nil, err
}

// PersonNeeded says why a person must approve a, "" if the actor may.
func (a Ask) PersonNeeded(g access.Grant, tainted bool) (string, error) {
	if g.IsHuman() {
		return "", nil
	}
	switch a.Kind {
	case schemas.AskSpawn, schemas.AskDraft:
		return "a new role or template is the owner's to approve", nil
	}
	if !tainted {
		marked, err := memory.Tainted(g)
		if err != nil {
			return "", err
		}
		tainted = marked
	}
	if tainted || a.Outside {
		return "it comes from outside, or this session has read what does, so a person approves", nil
	}
	return "", nil
}

// Verdict is a decision over what was asked.
type Verdict struct {
	ID      string
	Approve bool
	Hash    string
	Reason  string
}

// Settled is what a verdict led to.
type Settled struct {
	State schemas.ReviewState
	Note  string
}

// Decide does what was decided. CodeNotFound if nothing waits for the actor under the id,
// CodeConflict for another hash or something decided already, CodeDenied where a person
// must approve.
func (r *Roles) Decide(g access.Grant, v Verdict, tainted bool) (Settled, error) {
	a, err := Find(g, v.ID)
	if err != nil {
		return Settled{}, err
	}
	if a.State != schemas.ReviewPending {
		return Settled{}, work.AlreadyDecided(a.ID, a.State)
	}
	on := schemas.ReviewReject
	if v.Approve {
		on = schemas.ReviewApprove
		switch why, err := a.PersonNeeded(g, tainted); {
		case err != nil:
			return Settled{}, err
		case why != "":
			return Settled{}, schemas.Deniedf("%s", why).Try("reject it, or ask the user to look: cordelia review").
				Because(schemas.ErrPerson)
		case v.Hash == "":
			return Settled{}, work.Hashless(a.ID)
		case v.Hash != a.Hash:
			return Settled{}, work.OtherContent(a.ID)
		}
	}
	out, err := a.move(g, on, g.Actor(), v.Reason)
	if err != nil {
		return out, err
	}
	w, err := r.load(g, a.Workspace)
	if err != nil {
		return out, err
	}
	out.Note, err = r.follow(g, w, a, v)
	return out, err
}

// move carries a along an edge of reviews.
func (a Ask) move(g access.Grant, on schemas.Trigger, by schemas.EntityID, reason string) (Settled, error) {
	to, ok := schemas.NextReview(a.State, on, access.InReview(by, a.Agent))
	if !ok {
		return Settled{}, work.AlreadyDecided(a.ID, a.State)
	}
	n, err := g.Tx().Exec(decideAsk, to, by, g.Tx().Micros(), schemas.Shorten(reason, maxText), a.ID)
	if err != nil || n != 1 {
		return Settled{}, cmp.Or(err, work.AlreadyDecided(a.ID, ""))
	}
	if err := a.closed(g, to); err != nil {
		return Settled{}, err
	}
	return Settled{State: to}, g.Audit("ask/"+a.ID, map[string]any{"kind": a.Kind, "state": to, "by": by,
		"role": a.Agent, "hash": a.Hash})
}

// closed tells the role that asked what was decided. A request is answered by a message, and a role
// that left insights has ended.
func (a Ask) closed(g access.Grant, to schemas.ReviewState) error {
	if a.Kind == schemas.AskRequest || a.Kind == schemas.AskInsights {
		return nil
	}
	e := schemas.ReviewClosed{GroupID: GroupOf(a.Workspace), AgentID: a.Agent, Ref: a.ID}
	switch to {
	case schemas.ReviewApproved:
		e.Approved = 1
	case schemas.ReviewRejected:
		e.Rejected = 1
	case schemas.ReviewExpired:
		e.Expired = 1
	}
	return g.Emit(events.EntityStream(a.Agent), schemas.EventReviewClosed, e)
}

// follow does what a verdict leads to, and says so.
func (r *Roles) follow(g access.Grant, w *World, a Ask, v Verdict) (string, error) {
	switch a.Kind {
	case schemas.AskApproval:
		if v.Approve {
			return r.approved(g, w, a)
		}
	case schemas.AskRequest:
		return "", answer(g, a, v.Reason)
	case schemas.AskSpawn:
		if v.Approve {
			return r.spawnApproved(g, w, a)
		}
	case schemas.AskDraft:
		if v.Approve {
			return r.draftApproved(g, w, a)
		}
	case schemas.AskInsights:
		if v.Approve {
			return insightsApproved(g, a)
		}
	}
	return "", nil
}
