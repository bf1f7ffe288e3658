package review

import (
	"database/sql"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// waits is how long what an agent brought waits for a decision.
const waits = 30 * 24 * time.Hour

// late is a return that waits for too long, and when that was first seen.
type late struct {
	id string
	at agents.Monotonic
}

// due reports whether l was seen to be late often enough to end it: with it the text
// goes, so a wall clock that jumps is not believed.
func (l late) due(now agents.Monotonic) bool {
	return l.at.Boot == now.Boot && now.Micros-l.at.Micros >= agents.SightingsApart.Microseconds()
}

func findLate(g access.Grant, query string, waits time.Duration) ([]late, error) {
	if g.Tx() == nil || !g.IsNode() {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(query, g.Tx().Micros()-waits.Microseconds())
	found, err := store.Collect(rows, err, func(r *sql.Rows) (l late, err error) {
		return l, r.Scan(&l.id, &l.at.Boot, &l.at.Micros)
	})
	if err != nil {
		return nil, fmt.Errorf("read late returns: %w", err)
	}
	return found, nil
}

// Over reports whether Expire has something to do.
func Over(g access.Grant, now agents.Monotonic) (bool, error) {
	found, err := findLate(g, selectOver, waits)
	if err != nil {
		return false, err
	}
	proposed, err := findLate(g, selectOverProposals, proposalWaits)
	for _, l := range append(found, proposed...) {
		if l.at.Boot != now.Boot || l.due(now) {
			return true, err
		}
	}
	return false, err
}

// Expire ends returns that were not decided in time, a few at once: it deletes the text and
// notifies the agent and the reviewers. The agent can hand them in again.
func Expire(g access.Grant, now agents.Monotonic) error {
	proposed, err := findLate(g, selectOverProposals, proposalWaits)
	if err != nil {
		return err
	}
	for _, l := range proposed {
		if err := expireProposal(g, l, now); err != nil {
			return fmt.Errorf("end late proposal: %w", err)
		}
	}
	found, err := findLate(g, selectOver, waits)
	if err != nil {
		return err
	}
	for _, l := range found {
		switch {
		case l.due(now):
			err = expire(g, l.id)
		case l.at.Boot != now.Boot:
			_, err = g.Tx().Exec(seeOver, now.Boot, now.Micros, l.id)
		}
		if err != nil {
			return fmt.Errorf("end late return: %w", err)
		}
	}
	return nil
}

func expire(g access.Grant, returned string) error {
	rows, err := g.Tx().Query(selectReturned, returned)
	found, err := store.Collect(rows, err, scanRow)
	if err != nil {
		return err
	}
	for _, r := range found {
		if _, err := r.move(g, schemas.ReviewExpire, access.NodeEntity, "no decision came in time", ""); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		return nil
	}
	_, err = closeIfDone(g, found[0])
	return err
}

// tellReviewers tells those who were asked that it is too late.
func tellReviewers(g access.Grant, author schemas.Agent, told schemas.ReviewClosed) error {
	chain, err := g.ChainOf(author.AgentID)
	if err != nil || len(chain) == 0 {
		return err
	}
	for _, who := range reviewers(author.ParentEntityID, chain[0].ID) {
		if err := g.Emit(events.EntityStream(who), schemas.EventReviewClosed, told); err != nil {
			return err
		}
	}
	return nil
}
