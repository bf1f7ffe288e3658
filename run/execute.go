package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"cordelia/pipeline"
	"cordelia/run/git"
	"cordelia/schemas"
	"cordelia/work"
)

// Bounds of what an executor's report holds, in bytes.
const (
	maxDiff  = 12 << 10
	maxClaim = 2000
)

// outcome is what R3 answers: what it claims, apart from the record.
type outcome struct {
	Outcome  work.Outcome    `json:"outcome"`
	Result   json.RawMessage `json:"result"`
	Note     string          `json:"note"`
	Evidence []work.Evidence `json:"evidence"`
}

// result is what the run files for R3: what its client said, and what git shows.
type result struct {
	Said    json.RawMessage `json:"said"`
	Commit  string          `json:"commit"`
	Changed string          `json:"changed"` // the diff, as far as it fits
}

// execute has the client work in a worktree, commits what it left there, and reports.
func (s *seat) execute(ctx context.Context) (err error) {
	from, err := s.trunk.start(ctx, s.view)
	if err != nil {
		return err
	}
	place := filepath.Join(s.Folder, schemas.ShortID(s.view.WorkID))
	// A killed run may have left a HOME there, with what its worker put into it.
	err = errors.Join(git.RemoveAll(filepath.Join(place, "home")), git.RemoveAll(filepath.Join(place, "tmp")))
	if err != nil {
		return err
	}
	w, err := s.Repo.AddWorktree(ctx, filepath.Join(place, "tree"), from)
	if err != nil {
		return err
	}
	defer func() {
		clear := context.WithoutCancel(ctx)
		err = errors.Join(err, w.Drop(clear, s.Repo), git.RemoveAll(place))
	}()
	door, err := openDoor(func(ctx context.Context, conn connection) error { return s.Node.Serve(ctx, s.agent, conn) })
	if err != nil {
		return err
	}
	defer door.close()
	shield, err := s.Shield(place, w, door.folder)
	if err != nil {
		return err
	}
	if err := s.prepare(ctx, w, shield); err != nil {
		return err
	}
	text, err := prompt(s.claimed, "", "", nil, nil)
	if err != nil {
		return err
	}
	o := Order{System: system(schemas.Executor), Prompt: text, Schema: schemaOf(s.claimed),
		Model: s.Models[schemas.Executor],
		Dir:   w.Path, Tools: allowed(planned(s.claimed)), Socket: door.path, Shield: shield, Limits: s.Limits,
		family: door.family}
	if s.plain {
		return s.executePlain(ctx, w, o)
	}
	answer, err := s.ask(ctx, o)
	if err != nil {
		return err
	}
	return s.deliver(ctx, w, answer.Structured)
}

// allowed are the tools of an executor: those its plan names, and those that only read.
func allowed(plan []string) []string {
	list := readingTools()
	for _, t := range Tools() {
		named := slices.ContainsFunc(plan, func(p string) bool { return pipeline.ToolName(p) == t })
		if named && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// deliver commits what is in the worktree and reports it with what the client said.
func (s *seat) deliver(ctx context.Context, w *git.Worktree, structured json.RawMessage) error {
	var answer outcome
	if err := json.Unmarshal(structured, &answer); err != nil {
		return faultf(NoAnswer, "its answer cannot be read: %v", err)
	}
	commit, err := s.commit(ctx, w)
	if err != nil {
		return err
	}
	before, err := s.trunk.kept(ctx, s.view.SubTaskID)
	if err != nil {
		return err
	}
	if err := s.trunk.keep(ctx, s.view.SubTaskID, commit); err != nil {
		return err
	}
	diff, err := s.Repo.Diff(ctx, w.Base, commit, maxDiff)
	if err != nil {
		return err
	}
	if len(answer.Result) == 0 {
		answer.Result = json.RawMessage("null")
	}
	filed, err := json.Marshal(result{answer.Result, commit, diff})
	if err != nil {
		return err
	}
	r := Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done, Result: filed,
		Evidence: claims(answer.Evidence), Note: schemas.Shorten(answer.Note, maxClaim)}
	if answer.Outcome != work.Done {
		r.Outcome, s.fell = work.Failed, cmp.Or(r.Note, "its client said so")
	}
	err = s.Node.Report(ctx, s.agent, r)
	if errors.Is(err, schemas.ErrInvalid) { // it says too much: the record stands by itself
		r.Evidence, r.Result = nil, json.RawMessage(fmt.Sprintf(`{"commit": %q}`, commit))
		err = s.Node.Report(ctx, s.agent, r)
	}
	if err != nil && before != "" { // what is judged and merged is what was reported
		err = errors.Join(err, s.trunk.keep(context.WithoutCancel(ctx), s.view.SubTaskID, before))
	}
	return err
}

// commit commits what is in the worktree. A *Fault says that it cannot be.
func (s *seat) commit(ctx context.Context, w *git.Worktree) (string, error) {
	commit, err := w.Commit(ctx, message(s.about, s.Task, s.agent.Name))
	if p, ok := errors.AsType[*git.Planted](err); ok {
		return "", faultf(Refused, "%v", p)
	}
	if err != nil {
		return "", faultf(Crashed, "what it left cannot be committed: %v", err)
	}
	return commit, nil
}

// claims are the calls that a client says it made, cut to what a report may hold.
func claims(list []work.Evidence) []work.Evidence {
	const most = 30
	out := []work.Evidence{}
	for _, e := range list[:min(len(list), most)] {
		if e.Tool == "" {
			continue
		}
		e.Tool, e.Input = schemas.Shorten(e.Tool, 200), schemas.Shorten(e.Input, maxClaim)
		e.Head, e.Tail = schemas.Shorten(e.Head, maxClaim), schemas.Shorten(e.Tail, maxClaim)
		out = append(out, e)
	}
	return out
}

// message words a commit.
func message(intent, task, agent string) string {
	return fmt.Sprintf("%s\n\nCordelia-Task: %s\nCordelia-Agent: %s\n", schemas.Shorten(firstLine(intent), 72), task,
		agent)
}
