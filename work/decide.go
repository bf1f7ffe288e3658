package work

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Cancel ends an item, or what is open of a task, and says how many items that was: the
// holders' next reports do not count. Its submitter, the submitter's ancestors and those who
// run its group may do so. CodeNotFound if the actor sees nothing of it, CodeDenied if it sees it and may
// not cancel it, CodeConflict if all of it has ended.
func Cancel(g access.Grant, task, id string) (n int, err error) {
	found, err := managed(g, task, id)
	if err != nil {
		return 0, err
	}
	if n, err = cancel(g, found); err == nil && n == 0 {
		err = schemas.Conflictf("all of this work has ended").Try("%s shows how", schemas.Tool("task_status"))
	}
	return n, err
}

// cancel ends those of the items that are open.
func cancel(g access.Grant, found []row) (n int, err error) {
	var news readyNews
	for i := range found {
		// What an item dooms may be further down this list.
		r, err := load(g, found[i].n)
		if err != nil {
			return 0, err
		}
		if r.state.Final() {
			continue
		}
		holder := r.holder
		if r.state != schemas.WorkLeased {
			holder = ""
		}
		r.outcome = "cancelled"
		if err := end(g, &r, schemas.WorkCancel, schemas.BySubmitter, &news); err != nil {
			return 0, err
		}
		n++
		if holder == "" || holder == r.submitter || holder == g.Actor() {
			continue
		}
		// A member gets the group's event.
		var member bool
		if err := g.Tx().QueryRow(countMember, r.group, holder).Scan(&member); err != nil {
			return 0, fmt.Errorf("read members: %w", err)
		}
		if member {
			continue
		}
		if err := g.Emit(events.EntityStream(holder), schemas.EventWorkCancelled,
			schemas.WorkChanged{WorkID: r.id, TaskID: r.task, GroupID: r.group, AgentID: holder,
				State: r.state}); err != nil {
			return 0, err
		}
	}
	return n, news.announce(g)
}

// Close ends what is open in a group; the node does it when its swarm ends. n is how
// many items that were.
func Close(g access.Grant, group schemas.GroupID) (n int, err error) {
	if !g.IsNode() {
		return 0, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectOpen, group)
	found, err := store.Collect(rows, err, scanRow[*sql.Rows])
	if err != nil {
		return 0, fmt.Errorf("read work: %w", err)
	}
	return cancel(g, found)
}

// RunGroups lists the groups whose work the actor runs: may cancel, and answer for.
func RunGroups(g access.Grant) ([]schemas.GroupID, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectRunGroups, g.Actor())
	run, err := store.Collect(rows, err, func(r *sql.Rows) (group schemas.GroupID, err error) {
		return group, r.Scan(&group)
	})
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	return run, nil
}

// managed lists the items of a task, or the one item, that the actor runs.
func managed(g access.Grant, task, id string) ([]row, error) {
	run, err := RunGroups(g)
	if err != nil {
		return nil, err
	}
	query, ref := selectTaskManaged, task
	if id != "" {
		query, ref = selectManaged, id
	}
	rows, err := g.Tx().Query(query, g.Actor(), store.List(run), ref)
	found, err := store.Collect(rows, err, scanRow[*sql.Rows])
	if err != nil {
		return nil, fmt.Errorf("read work: %w", err)
	}
	if len(found) == 0 {
		return nil, notManaged(g, task, id)
	}
	return found, nil
}

// notManaged refuses a task, or an item, that the actor does not run: with the reason if the actor may see
// it, else as what is absent.
func notManaged(g access.Grant, task, id string) error {
	if id == "" {
		seen, err := List(g, Filter{Task: task, Limit: 1})
		if err != nil {
			return err
		}
		return NotRun(seen[0].GroupID)
	}
	v, err := view(g, id)
	switch {
	case err != nil:
		return err
	case v.holder == g.Actor() && v.state == schemas.WorkLeased:
		return NotRun(v.group).Try("to give it back: %s", schemas.Tool("task_report", "work_id", id,
			"fence", v.fence, "outcome", Released))
	}
	return NotRun(v.group)
}

// NotRun refuses to cancel work of a group, or of none, that the actor sees and does not run.
func NotRun(group schemas.GroupID) *schemas.Error {
	refusal := schemas.Deniedf("you may see this work and not cancel it: you did not submit it").
		Expecting("work of yours, of an agent below you, or of a group whose owner or admin you are")
	if group == "" {
		return refusal.Try("ask your parent, or the user")
	}
	return refusal.Try("ask an owner or admin of the group, whom %s lists",
		schemas.Tool("memory_group", "action", "read", "group", group))
}

// Retry puts a blocked item back into the queue, as if it waited for nothing and
// its leases had not run out. It is for a person.
func Retry(g access.Grant, id string) (schemas.WorkState, error) {
	if v, err := view(g, id); err == nil && v.row.state.Final() {
		return "", schemas.Conflictf("this work is %s, and that is final", v.row.state).
			Try("to have it done again: %s", schemas.Tool("task_submit", "intent", "…"))
	}
	r, err := forPerson(g, id)
	if err != nil {
		return "", err
	}
	var news readyNews
	r.blockers, r.expiries, r.releases, r.outcome, r.holder = 0, 0, 0, "", ""
	if err := end(g, &r, schemas.WorkRetry, schemas.ByHuman, &news); err != nil {
		return "", err
	}
	return r.state, news.announce(g)
}

// Decide ends the wait of a held item: its result counts, or it failed. hash is
// that of the result the person saw. CodeConflict if it is not held, or its result
// is another.
func Decide(g access.Grant, id, hash string, accept bool) (schemas.WorkState, error) {
	r, err := forPerson(g, id)
	if err != nil {
		return "", err
	}
	if hash == "" {
		return "", Hashless(id)
	}
	if r.resultHash != hash {
		return "", OtherContent(id)
	}
	on := schemas.WorkAccept
	if !accept {
		on, r.outcome = schemas.WorkReject, "rejected"
	}
	var news readyNews
	if err := end(g, &r, on, schemas.ByHuman, &news); err != nil {
		return "", err
	}
	return r.state, news.announce(g)
}

// Hashless is the error of a decision over what waits that does not name the hash it was
// shown with: CodeConflict, as of one over another content.
func Hashless(id string) error {
	return schemas.Conflictf("the decision over %s names no hash", id).Expecting("the id with the hash that was shown").
		Try("%s shows it, with its hash", schemas.Tool("review_list", "ids", []any{id}))
}

// AlreadyDecided is the error of a decision over what was decided before: CodeConflict. It names the state
// that followed, if that is known.
func AlreadyDecided(id string, state schemas.ReviewState) error {
	return schemas.Conflictf("%s was %s already", id, cmp.Or(string(state), "decided")).
		Try("%s shows what waits", schemas.Tool("review_list"))
}

// OtherContent is the error of a decision over what waits that names another hash than its present one:
// CodeConflict.
func OtherContent(id string) error {
	return schemas.Conflictf(
		"the hash given is not the present one of %s: that changed after it was shown, or the hash is mistyped", id).
		Expecting("the hash of the present content, after looking at it").
		Try("%s shows it, with its hash", schemas.Tool("review_list", "ids", []any{id}))
}

func forPerson(g access.Grant, id string) (row, error) {
	v, err := view(g, id)
	if err != nil {
		return row{}, err
	}
	if !g.IsHuman() {
		return row{}, schemas.Deniedf("a person decides this").Try(
			"ask the user; cordelia task list shows what waits for them").Because(schemas.ErrPerson)
	}
	return load(g, v.row.n)
}

// view reads an item the actor may see.
func view(g access.Grant, id string) (seen, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return seen{}, err
	}
	var s seen
	err = g.Tx().QueryRow(selectView, g.Actor(), store.List(scope.Groups),
		id).Scan(s.dest(&s.brief, &s.result, &s.evidence)...)
	if errors.Is(err, store.ErrNoRows) {
		return s, NotKnown()
	}
	if err != nil {
		return s, fmt.Errorf("read work: %w", err)
	}
	return s, nil
}
