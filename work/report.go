package work

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Outcome is what the holder of an item says became of it.
type Outcome string

const (
	Done     Outcome = "done"
	Failed   Outcome = "failed"
	Released Outcome = "released" // given back for another agent
	Progress Outcome = "progress" // still at it
)

// Evidence is one thing that was done and what it showed.
type Evidence struct {
	Tool  string `json:"tool" jsonschema:"name"`
	Input string `json:"input,omitempty" also:"command" free:"json" jsonschema:"given"`
	Exit  int    `json:"exit" also:"exitcode" jsonschema:"0 if it worked"`
	Head  string `json:"head,omitempty" also:"output" jsonschema:"output begins"` // the output's beginning
	Tail  string `json:"tail,omitempty" jsonschema:"output ends"`                 // and its end
}

// Report is a checked report.
type Report struct {
	id       string
	fence    int64
	outcome  Outcome
	result   string // JSON, "" for none
	evidence string // JSON, "" for none
	note     string
	hash     string
	proof    string // hash of result, evidence and note: of what a person decides over
	showed   bool   // evidence was given, if only an empty list
}

// NewReport checks a report before a transaction is taken for it. CodeInvalid
// lists every violation.
func NewReport(id string, fence int64, o Outcome, result json.RawMessage, evidence []Evidence,
	note string) (*Report, error) {
	bad := checkReport(o, result, evidence, note)
	r := &Report{id: id, fence: fence, outcome: o, result: string(result), note: note,
		showed: evidence != nil}
	if len(evidence) > 0 {
		text, err := json.Marshal(evidence)
		if err != nil {
			return nil, fmt.Errorf("encode evidence: %w", err)
		}
		if r.evidence = string(text); len(text) > maxProof {
			bad = append(bad, schemas.Violation{Path: "/evidence", Msg: fmt.Sprintf(
				"has %d bytes in all, more than %d; keep the ends that show most", len(text), maxProof)})
		}
	}
	if bad != nil {
		return nil, schemas.Invalidf("the report was not taken").
			Try("correct what is listed and %s again; the lease is still yours", schemas.Do("task_report")).With(bad...)
	}
	if o != Released { // which has neither
		r.proof = digest(r.result, r.evidence, note)
	}
	r.hash = digest(string(o), r.result, r.evidence, note)
	return r, nil
}

// checkReport lists what is wrong with the parts of a report.
func checkReport(o Outcome, result json.RawMessage, evidence []Evidence, note string) (bad []schemas.Violation) {
	say := func(path, format string, args ...any) {
		bad = append(bad, schemas.Violation{Path: path, Msg: fmt.Sprintf(format, args...)})
	}
	if len(result) > MaxResult {
		say("/result", "has %d bytes; write what is longer than %d with memory_write_warm and report the item's id",
			len(result), MaxResult)
	}
	if (o == Released || o == Progress) && (len(result) > 0 || len(evidence) > 0) {
		say("/result", "belongs to outcome done or failed")
	}
	if len(note) > maxNote {
		say("/note", "is longer than %d bytes", maxNote)
	}
	if len(evidence) > maxEvidence {
		say("/evidence", "has more than %d pieces", maxEvidence)
	}
	for i, e := range evidence {
		if e.Tool == "" {
			say(schemas.Pointer("evidence", fmt.Sprint(i), "tool"), "is missing")
		}
		if max(len(e.Tool), len(e.Input), len(e.Head), len(e.Tail)) > maxPiece {
			say(schemas.Pointer("evidence", fmt.Sprint(i)), "has a text longer than %d bytes; give its head and tail",
				maxPiece)
		}
	}
	return bad
}

func digest(parts ...string) string {
	text, err := json.Marshal(parts)
	if err != nil { // strings
		panic(fmt.Sprintf("work: encode report: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Receipt is the answer to a report.
type Receipt struct {
	WorkID string            `json:"work_id"`
	Fence  int64             `json:"fence"`
	State  schemas.WorkState `json:"state"`
	Late   bool              `json:"late,omitempty"`   // see Stale
	Kept   bool              `json:"-"`                // what came too late, or differs, was kept, just now
	Before Outcome           `json:"before,omitempty"` // the lease was reported so, and this report differs
	// it repeats a report that was done by its word, and filed AsFailed or AsReleased
	Untaken bool `json:"untaken,omitempty"`
}

// Counts reports whether the report was taken.
func (r Receipt) Counts() bool { return !r.Late && r.Before == "" }

// Stale words a receipt of a report that did not count. It is no error of File,
// because the payload that was kept must be committed.
func (r Receipt) Stale() error {
	if r.Before != "" {
		return schemas.Conflictf(
			"this lease was already reported: %s; this report differs and does not count; the operator gets the first "+
				"such one", r.Before).
			Try("take other work with %s", schemas.Tool("task_claim"))
	}
	if !r.Late {
		return nil
	}
	return schemas.Conflictf("the lease with fence %d has ended; this report does not count; the operator gets the "+
		"first such one", r.Fence).
		Try("stop working on it and take other work with %s", schemas.Tool("task_claim"))
}

// Review says whether a person looks at what an agent reports before it counts.
type Review func(g access.Grant, agent schemas.EntityID, role string) (bool, error)

// File takes a report (INV-FENCE). A lease that is over counts until another agent has the
// item; a second report of a lease that differs from the first does not count. Errors:
// CodeNotFound if the actor never had that lease, CodeDenied if it may not write to the item's
// group any more, CodeInvalid if the result is not what the item asks for.
func File(g access.Grant, p *Report, review Review) (Receipt, error) {
	if g.Tx() == nil {
		return Receipt{}, access.ErrNoGrant
	}
	r, before, asks, err := leased(g, p)
	if err != nil {
		return Receipt{}, err
	}
	receipt := Receipt{WorkID: r.id, Fence: p.fence}
	switch {
	case before.outcome != "" && before.hash == p.hash: // the same report again
		receipt.State, receipt.Untaken = before.state, p.outcome == Done && before.outcome != Done
		return receipt, nil
	case before.outcome != "":
		receipt.State, receipt.Before = before.state, before.outcome
		receipt.Kept, err = late(g, r, p, before)
		return receipt, err
	case r.state != schemas.WorkLeased || r.fence != p.fence || r.holder != g.Actor():
		receipt.State, receipt.Late = r.state, true
		receipt.Kept, err = late(g, r, p, before)
		return receipt, err
	}
	if r.group != "" {
		if err := mayOffer(g, r.group); err != nil {
			return receipt, err
		}
	}
	if p.outcome == Progress {
		receipt.State = r.state
		return receipt, progress(g, r, p)
	}
	unproven := false
	if p.outcome == Done {
		if unproven, err = asks.answered(g, r, p); err != nil {
			return receipt, err
		}
	}
	if err := conclude(g, &r, p, asks.role, unproven, review); err != nil {
		return receipt, err
	}
	receipt.State = r.state
	if err := g.Tx().Send(updateLease, p.outcome, p.hash, r.state, g.Tx().Micros(), r.n, p.fence); err != nil {
		return receipt, fmt.Errorf("note report: %w", err)
	}
	return receipt, nil
}

// filed is the first report of a lease; without one the outcome is "".
type filed struct {
	outcome Outcome
	hash    string
	state   schemas.WorkState // of the item after it
	late    int64             // when a late report was kept, UTC µs
}

// asks is what an item asks of who reports it.
type asks struct{ role, schema, checks string }

// ReadAhead says that File is going to be called.
func (r *Report) ReadAhead(g access.Grant) error {
	return g.Tx().Ahead(selectLeased, r.id, g.Actor(), r.fence)
}

// leased reads the item that the actor held with the fence of p, and the report of that lease.
func leased(g access.Grant, p *Report) (r row, before filed, a asks, err error) {
	err = g.Tx().QueryRow(selectLeased, p.id, g.Actor(),
		p.fence).Scan(r.dest(&before.outcome, &before.hash, &before.state, &before.late, &a.role, &a.schema, &a.checks)...)
	if errors.Is(err, store.ErrNoRows) {
		return r, before, a, neverHeld(g, p)
	}
	if err != nil {
		return r, before, a, fmt.Errorf("read lease: %w", err)
	}
	return r, before, a, nil
}

// neverHeld refuses a report of a lease that is not the actor's: of one that an agent below it holds
// it says so.
func neverHeld(g access.Grant, p *Report) error {
	refusal := schemas.NotFoundf("you never held work %q with fence %d", schemas.Shorten(schemas.ShortID(p.id), 64),
		p.fence).Expecting("work_id and fence as the claim gave them").
		Try("%s, which gives back the item you hold", schemas.Do("task_claim"))
	var holder schemas.EntityID
	err := g.Tx().QueryRow(selectLeaseHolder, p.id, p.fence).Scan(&holder)
	if errors.Is(err, store.ErrNoRows) {
		return refusal
	}
	if err != nil {
		return fmt.Errorf("read who has the lease: %w", err)
	}
	if below, err := g.Holds(holder); err != nil || !below {
		return cmp.Or(err, error(refusal))
	}
	name := g.NameOf(holder)
	return refusal.Try("%s, an agent below you, held it: repeat the call with \"as\": %q", name, name)
}

// progress notes how far the holder is, and extends its lease.
func progress(g access.Grant, r row, p *Report) error {
	if err := g.Tx().Send(updateNote, p.note, g.Tx().Micros(), r.n); err != nil {
		return fmt.Errorf("note progress: %w", err)
	}
	return extendOwn(g, &r, min(g.Tx().Micros(), r.leaseUntil-1))
}

// conclude makes the move a report asks for. What is unproven, a person looks at.
func conclude(g access.Grant, r *row, p *Report, role string, unproven bool, review Review) error {
	var news readyNews
	on, by := schemas.WorkFail, schemas.ByHolder
	switch p.outcome {
	case Released:
		if err := g.Tx().Alone(); err != nil { // its place is behind all others'
			return err
		}
		if on = schemas.WorkRelease; r.releases+1 >= maxReleases {
			on, by, r.outcome = schemas.WorkExhaust, schemas.ByNode, "given back"
		}
		r.releases++
		if err := g.Tx().QueryRow(nextPlace).Scan(&r.place); err != nil {
			return fmt.Errorf("read place: %w", err)
		}
	case Done:
		on = schemas.WorkFinish
		if looked, err := review(g, r.holder, role); err != nil {
			return err
		} else if looked || unproven {
			on = schemas.WorkHold
		}
		fallthrough
	case Failed:
		r.outcome, r.resultHash = string(p.outcome), p.proof
	}
	r.reported = p
	if err := end(g, r, on, by, &news); err != nil {
		return err
	}
	return news.announce(g)
}

// late keeps a report that came too late or differs from the one before, the first of its
// lease, for the operator.
func late(g access.Grant, r row, p *Report, before filed) (kept bool, err error) {
	if before.late != 0 || p.outcome == Released || p.outcome == Progress {
		return false, nil
	}
	text, err := json.Marshal(keptReport{Outcome: p.outcome, Result: p.result, Evidence: p.evidence, Note: p.note})
	if err != nil {
		return false, fmt.Errorf("encode report: %w", err)
	}
	if err := g.Tx().Send(keepLate, g.Tx().Micros(), string(text), r.n, p.fence); err != nil {
		return false, fmt.Errorf("keep report: %w", err)
	}
	return true, g.Audit("work/"+r.id, map[string]any{"late": p.fence, "hash": p.hash, "before": before.outcome})
}
