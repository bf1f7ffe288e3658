package ops

import (
	"cmp"
	"context"
	"errors"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/work"
)

var reviewDecide = Define(Spec{
	Name: "review_decide", Title: "Decide reviews", Toolset: Review, Effect: access.Destroy, InPerson: true,
	SearchHint: "approve reject accept merge staged held",
	Description: "Approve or reject what review_list shows, all of a call or nothing. An approval names the hash " +
		"you were shown. Rejected memories are removed when their staging closes.",
}, decideReviews)

type reviewDecideIn struct {
	Decisions  []decisionIn    `json:"decisions,omitempty" jsonschema:"each with its hash"`
	RejectRest schemas.GroupID `json:"reject_rest,omitempty" jsonschema:"a staging group"`
}

type decisionIn struct {
	ID       string `json:"id" ref:"review" jsonschema:"of review_list"`
	Decision string `json:"decision" enum:"approve,reject"`
	Hash     string `json:"hash,omitempty" jsonschema:"as shown"`
	Reason   string `json:"reason,omitempty" jsonschema:"for the author"`
}

// ReviewDecideOut is the answer of review_decide.
type ReviewDecideOut struct {
	Decided []DecidedOut      `json:"decided"`
	Closed  []schemas.GroupID `json:"closed,omitempty" jsonschema:"staging groups of which nothing waits any more"`
}

// DecidedOut is what became of one thing that waited.
type DecidedOut struct {
	ID     string           `json:"id"`
	State  string           `json:"state"`
	Item   schemas.ItemID   `json:"item,omitempty"`
	Status memory.Status    `json:"status,omitempty"`
	With   []schemas.ItemID `json:"with,omitempty"`
	Note   schemas.Hint     `json:"note,omitempty"`
}

// Text says what became of each.
func (o ReviewDecideOut) Text() string {
	var list []string
	for _, d := range o.Decided {
		list = append(list, words(", ", words(" ", short(d.ID), d.State,
			when(d.Item != "", "as item %s", short(d.Item))), when(len(d.With) > 0, "%s %s", d.Status, shorts(d.With))),
			d.Note.String())
	}
	return lines(append(list, when(len(o.Closed) > 0, "nothing else of that return waits"))...)
}

// hashless refuses a person's decision over the result of a task that names no hash: to
// the pipeline that is one of another result.
func hashless(g access.Grant, d decisionIn) error {
	if d.Hash != "" || !g.IsHuman() {
		return nil
	}
	_, err := controller.Reviewed(g, d.ID)
	if errors.Is(err, schemas.ErrNotFound) {
		return nil
	}
	return cmp.Or(err, work.Hashless(d.ID))
}

func decideReviews(ctx context.Context, c *Call, in reviewDecideIn) (ReviewDecideOut, error) {
	if len(in.Decisions) > review.MaxDecisions {
		return ReviewDecideOut{}, schemas.Invalidf("%d decisions", len(in.Decisions)).Expecting("at most %d",
			review.MaxDecisions).
			Try("decide over more in further calls of %s", schemas.Tool("review_decide"))
	}
	out, err := Transact(ctx, c, func(g access.Grant) (ReviewDecideOut, error) {
		out := ReviewDecideOut{Decided: []DecidedOut{}}
		var decisions []review.Decision // over memory
		for _, d := range in.Decisions {
			done, decided, err := decideTaskOrRole(g, c, d)
			if err != nil {
				return out, err
			}
			if decided {
				out.Decided = append(out.Decided, done)
				continue
			}
			decisions = append(decisions, review.Decision{ID: d.ID, Approve: d.Decision == "approve", Hash: d.Hash,
				Reason: d.Reason})
		}
		if len(out.Decided) > 0 && len(decisions) == 0 && in.RejectRest == "" {
			return out, nil
		}
		decided, err := review.Decide(g, decisions, in.RejectRest, c.tainted())
		if err != nil {
			return out, err
		}
		for _, d := range decided {
			if err := c.Node.Tasks().CompleteItem(g, d.ID); err != nil { // a seat whose answer was held
				return out, err
			}
			if d.State == string(schemas.WorkDone) { // work that a directive to spawn led to
				if _, err := c.Node.Roles().Spawned(g, d.ID); err != nil {
					return out, err
				}
			}
			out.Decided = append(out.Decided, DecidedOut{d.ID, d.State, d.Item, d.Status, d.With, d.Note})
			if d.Closed != "" {
				out.Closed = append(out.Closed, d.Closed)
			}
		}
		return out, nil
	})
	c.Node.WriteRoleKeys()
	return out, c.forPerson(ctx, in, err)
}

// decideTaskOrRole decides over the result of a task or the question of a role; decided is false
// if d is about neither.
func decideTaskOrRole(g access.Grant, c *Call, d decisionIn) (out DecidedOut, decided bool, err error) {
	if c.Caller.Consulted {
		state, err := decidedAlready(g, d.ID)
		if state != "" || err != nil {
			return DecidedOut{ID: d.ID, State: state}, true, err
		}
	}
	if err := hashless(g, d); err != nil {
		return out, false, err
	}
	approve := d.Decision == "approve"
	state, err := c.Node.Tasks().Decide(g, d.ID, d.Hash, approve, d.Reason)
	if !errors.Is(err, schemas.ErrNotFound) {
		return DecidedOut{ID: d.ID, State: string(state)}, true, err
	}
	done, err := c.Node.Roles().Decide(g, roles.Verdict{ID: d.ID, Approve: approve, Hash: d.Hash,
		Reason: d.Reason}, c.tainted())
	if errors.Is(err, schemas.ErrNotFound) {
		return out, false, nil
	}
	return DecidedOut{ID: d.ID, State: string(done.State), Note: remark(done.Note)}, true, err
}

// remark is a text as a hint, none for none.
func remark(text string) schemas.Hint {
	if text == "" {
		return nil
	}
	return schemas.Hintf("%s", text)
}
