package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/schemas"
	"cordelia/work"
)

// plainSchema is the schema of what a client answers to plain work: how it went, and the
// result that the work asks for.
func plainSchema(c *work.Claimed) json.RawMessage {
	result := json.RawMessage(`{}`)
	if len(c.Brief.AnswerSchema) > 0 {
		result = c.Brief.AnswerSchema
	}
	return json.RawMessage(fmt.Sprintf(`{"type": "object", "properties": {"outcome": {"enum": ["done", "failed"]}, `+
		`"result": %s, "note": {"type": "string", "description": "what the reader of the result has to know"}}, `+
		`"required": ["outcome", "result"]}`, result))
}

// deliverPlain reports plain work: the result as its answer schema has it, and in the note
// the branch on which the node put what was changed.
func (s *seat) deliverPlain(ctx context.Context, w *Worktree, structured json.RawMessage) error {
	var result outcome
	if err := json.Unmarshal(structured, &result); err != nil {
		return faultf(NoAnswer, "its answer cannot be read: %v", err)
	}
	commit, err := s.commit(ctx, w)
	if err != nil {
		return err
	}
	note := schemas.Shorten(result.Note, maxClaim)
	if commit == w.Base && commit == s.Repo.Base { // else an attempt before it left work there
		err = s.Repo.Discard(ctx, s.Task) // there is nothing on the branch
	} else if err = s.Repo.Merge(ctx, s.Task, commit, message(s.about, s.Task, s.agent.Name)); err == nil {
		note = fmt.Sprintf("changed on the branch %s, commit %.12s. %s", Branch(s.Task), commit, note)
	}
	if err != nil {
		return err
	}
	r := Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done, Result: result.Result, Note: note}
	if result.Outcome != work.Done {
		r.Outcome = work.Failed
	}
	err = s.Node.Report(ctx, s.agent, r)
	if errors.Is(err, schemas.ErrInvalid) {
		return faultf(NoAnswer, "its result was not taken: %s", words(err))
	}
	return err
}
