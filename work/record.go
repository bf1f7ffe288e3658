package work

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// RunOutcome is how a client that was started for an item ended.
type RunOutcome string

// The outcomes.
const (
	RunAnswered  RunOutcome = "answered"
	RunFailed    RunOutcome = "failed"
	RunPostponed RunOutcome = "postponed" // a limit of its provider: it counts as no attempt
	RunStopped   RunOutcome = "stopped"   // by the user, or by a budget
)

// UnknownCost is the cost of a run whose price is not known.
const UnknownCost = -1

// Usage is what a run took: tokens, and money in millionths of a US dollar.
type Usage struct {
	Input   int64 `json:"input_tokens"`
	Cached  int64 `json:"cached_tokens"`  // read from a cache
	Written int64 `json:"written_tokens"` // written to a cache
	Output  int64 `json:"output_tokens"`
	Cost    int64 `json:"cost_micros"` // UnknownCost = not known
}

// RecordedCall is a tool call as the node saw it. Times are UTC microseconds.
type RecordedCall struct {
	schemas.Evidence
	Started, Ended int64
}

// Run is one start of a client for an item.
type Run struct {
	WorkID  string
	Fence   int64 // of the lease it was started for
	Client  string
	Model   string
	Payer   string // where the client took its credentials from
	Outcome RunOutcome
	Reason  string // why it did not answer
	Records bool   // its calls are the record of the attempt
	Calls   []RecordedCall
	Usage
	Started, Ended int64 // UTC µs
}

// Bounds of what is kept of a run.
const (
	maxRecorded = 2000 // calls; those after it are counted as one that failed
	maxReason   = 2000 // bytes
	maxInput    = 8 << 10
)

// Record keeps what the node saw of a run. It is for the node: no agent writes its own
// record. CodeNotFound if there is no such item.
func Record(g access.Grant, r Run) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	var item int64
	err := g.Tx().QueryRow(selectItemN, r.WorkID).Scan(&item)
	if errors.Is(err, store.ErrNoRows) {
		return schemas.NotFoundf("there is no work item %s", r.WorkID)
	}
	if err != nil {
		return fmt.Errorf("find item: %w", err)
	}
	r = r.bounded()
	var n int64
	if err := g.Tx().QueryRow(insertRun, item, r.Fence, r.Client, r.Model, r.Payer, r.Outcome, r.Reason, r.Records,
		r.Input, r.Cached, r.Written, r.Output, r.Cost, r.Started, r.Ended).Scan(&n); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	for i, c := range r.Calls {
		if _, err := g.Tx().Exec(insertRecordedCall, n, i+1, c.Tool, c.Input, c.Exit, c.Head, c.Tail, c.Started,
			c.Ended); err != nil {
			return fmt.Errorf("write recorded call: %w", err)
		}
	}
	calls, err := json.Marshal(r.Calls)
	if err != nil {
		return fmt.Errorf("encode recorded calls: %w", err)
	}
	sum := sha256.Sum256(calls)
	return g.Audit("work/"+r.WorkID, map[string]any{"fence": r.Fence, "client": r.Client, "run": r.Outcome,
		"calls":        len(r.Calls),
		"calls_sha256": hex.EncodeToString(sum[:])})
}

// bounded is r with no more than is kept.
func (r Run) bounded() Run {
	r.Model, r.Reason = schemas.WithoutNUL(r.Model), schemas.Shorten(schemas.WithoutNUL(r.Reason), maxReason)
	if over := len(r.Calls) - maxRecorded; over > 0 {
		last := r.Calls[len(r.Calls)-1]
		r.Calls = append(r.Calls[:maxRecorded:maxRecorded], RecordedCall{
			unrecorded(fmt.Sprintf("%d more calls, which were not recorded", over)), last.Started, last.Ended})
	}
	for i := range r.Calls {
		r.Calls[i].Input = schemas.Shorten(r.Calls[i].Input, maxInput)
	}
	return r
}

// unrecorded stands for the calls after those that are kept. It names no tool that is known: any of them
// may have changed files.
func unrecorded(text string) schemas.Evidence {
	return schemas.Evidence{Tool: "unrecorded", Input: text, Exit: -1}
}

// Recorded gives the calls on record of a lease, in order; ok is false if nothing was
// recorded of it.
func Recorded(g access.Grant, item, fence int64) (calls []schemas.Evidence, ok bool, err error) {
	if err := g.Tx().QueryRow(selectRecords, item, fence).Scan(&ok); err != nil || !ok {
		return nil, false, err
	}
	rows, err := g.Tx().Query(selectRecordedCalls, item, fence)
	calls, err = store.Collect(rows, err, func(r *sql.Rows) (e schemas.Evidence, err error) {
		return e, r.Scan(&e.Tool, &e.Input, &e.Exit, &e.Head, &e.Tail)
	})
	if err != nil {
		return nil, false, fmt.Errorf("read recorded calls: %w", err)
	}
	if calls == nil { // that there was no call is a record, too
		calls = []schemas.Evidence{}
	}
	return calls, true, nil
}
