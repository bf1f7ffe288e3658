package run

import (
	"context"
	"encoding/json"
	"fmt"

	"cordelia/schemas"
	"cordelia/work"
)

// byCode answers for R4a without a model, where each criterion names a command: the record and
// the node's own runs decide whether it passes. ok is false if a criterion needs a judge.
func (s *seat) byCode(ctx context.Context, commit string, seen []work.Evidence) (ok bool, err error) {
	choice, given := s.client.(*Choice)
	if !given || !choice.Code || s.view.Role != schemas.AgentValidator {
		return false, nil
	}
	var in struct {
		Criteria []schemas.Criterion `json:"criteria"`
	}
	if err := json.Unmarshal(s.claimed.Brief.Inputs, &in); err != nil {
		return false, fmt.Errorf("read the brief of R4a: %w", err)
	}
	report := schemas.VerdictReport{}
	for _, c := range in.Criteria {
		if c.Mode != schemas.Verifiable || c.Command == "" {
			return false, nil
		}
		report.Verdicts = append(report.Verdicts, schemas.JudgedCriterion{Criterion: c.Criterion, Verdict: schemas.Pass,
			Evidence: "code decides, by the record and by what the node ran"})
	}
	if len(report.Verdicts) == 0 {
		return false, nil
	}
	for _, e := range seen {
		if e.Exit != 0 && report.WhatToDo == "" {
			report.WhatToDo = "Have this exit 0: " + schemas.Shorten(schemas.Evidence(e).String(), maxClaim)
		}
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return false, err
	}
	s.state.Client = CodeName
	return true, s.file(ctx, commit, Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done,
		Result: raw, Evidence: seen})
}

// allFail files for a judge that each criterion failed because of something outside of what
// is judged.
func (s *seat) allFail(ctx context.Context, why string) error {
	var in struct {
		Criteria []schemas.Criterion `json:"criteria"`
	}
	if err := json.Unmarshal(s.claimed.Brief.Inputs, &in); err != nil {
		return fmt.Errorf("read the brief of %s: %w", s.view.Role, err)
	}
	list := []schemas.JudgedCriterion{}
	for _, c := range in.Criteria {
		list = append(list, schemas.JudgedCriterion{Criterion: c.Criterion, Verdict: schemas.Fail,
			FailureClass: schemas.Environmental, Evidence: why})
	}
	var raw json.RawMessage
	var err error
	if s.view.Role == schemas.MetaValidator {
		raw, err = json.Marshal(schemas.MergeReport{Output: json.RawMessage("null"), Verdicts: list})
	} else {
		raw, err = json.Marshal(schemas.VerdictReport{Verdicts: list})
	}
	if err != nil {
		return err
	}
	return s.Node.Report(ctx, s.agent, Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done,
		Result: raw})
}
