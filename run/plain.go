package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"cordelia/run/git"
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

// means are those of the recipe that a role's work follows; none if the work is of no role.
func (s *seat) means() work.Means {
	if m := s.claimed.Brief.Means; m != nil {
		return *m
	}
	return work.Means{}
}

// executePlain has the client do plain work, again if the commands that decide over it fail,
// and reports it.
func (s *seat) executePlain(ctx context.Context, w *git.Worktree, o Order) error {
	m := s.means()
	if o.Schema, o.Tools = plainSchema(s.claimed), Tools(); len(m.Tools) > 0 {
		o.Tools = allowed(m.Tools)
	}
	o.Model = cmp.Or(m.Model, o.Model)
	for asked := 1; ; asked++ {
		answer, err := s.ask(ctx, o)
		if err != nil {
			return err
		}
		var result outcome
		if err := json.Unmarshal(answer.Structured, &result); err != nil {
			return faultf(NoAnswer, "its answer cannot be read: %v", err)
		}
		commit, err := s.commit(ctx, w)
		if err != nil {
			return err
		}
		note, err := s.checkPlain(ctx, commit, &result, asked == maxAsks)
		if err == nil && result.Outcome == again {
			o.Prompt, err = prompt(s.claimed, "", note, nil, nil)
		} else if err == nil {
			return s.deliverPlain(ctx, w, commit, result, note)
		}
		if err != nil {
			return err
		}
	}
}

// again is the outcome of work that its client is to mend.
const again work.Outcome = "again"

// checkPlain runs the commands that decide whether work is done, on its commit, and records
// what they came to. What fails is to be mended or, the last time, has failed. Of work that
// changed what they rest on nothing is recorded: a person decides then.
func (s *seat) checkPlain(ctx context.Context, commit string, result *outcome, last bool) (note string, err error) {
	m := s.means()
	if result.Outcome != work.Done || len(m.Checks) == 0 {
		return "", nil
	}
	place := filepath.Join(s.Folder, schemas.ShortID(s.view.WorkID)+"-check") // no HOME that the worker wrote
	began := time.Now().UnixMicro()
	seen, err := s.runAll(ctx, commit, m.Checks, place)
	if err != nil {
		return "", err
	}
	r := work.Run{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Client: CodeName, Outcome: work.RunAnswered,
		Records: true, Started: began, Ended: time.Now().UnixMicro()}
	for _, e := range seen {
		if e.Exit != 0 {
			note = "The node ran this on the result: " + schemas.Evidence(e).String()
		}
		r.Calls = append(r.Calls, work.RecordedCall{Evidence: schemas.Evidence(e), Started: began, Ended: r.Ended})
	}
	switch {
	case note != "" && !last:
		result.Outcome = again
		return note, nil
	case note != "":
		result.Outcome = work.Failed
	default:
		edited, err := s.editedBy(ctx, commit, []schemas.Criterion{{Command: m.Checks[0]}})
		if err != nil || len(edited) > 0 {
			return "it changed what checks it, so a person decides: " + strings.Join(edited, ", "), err
		}
	}
	return note, s.Node.Record(ctx, r)
}

// deliverPlain reports plain work: the result as its answer schema has it, and in the note
// the branch on which the node put what was changed.
func (s *seat) deliverPlain(ctx context.Context, w *git.Worktree, commit string, result outcome,
	found string) (err error) {
	note := schemas.Shorten(strings.TrimSpace(found+" "+result.Note), maxClaim)
	if commit == w.Base && commit == s.Repo.Base { // else an attempt before it left work there
		err = s.Repo.Discard(ctx, s.Task) // there is nothing on the branch
	} else if err = s.Repo.Merge(ctx, s.Task, commit, message(s.about, s.Task, s.agent.Name)); err == nil {
		note = fmt.Sprintf("changed on the branch %s, commit %.12s. %s", git.Branch(s.Task), commit, note)
	}
	if err != nil {
		return err
	}
	r := Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done, Result: result.Result, Note: note}
	if result.Outcome != work.Done {
		r.Outcome, s.fell = work.Failed, cmp.Or(note, "its client said so")
	}
	err = s.Node.Report(ctx, s.agent, r)
	if errors.Is(err, schemas.ErrInvalid) {
		return faultf(NoAnswer, "its result was not taken: %s", words(err))
	}
	return err
}
