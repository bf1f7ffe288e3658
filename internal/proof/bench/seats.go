//go:build unix

package main

import (
	"fmt"

	runner "cordelia/run"
	"cordelia/schemas"
)

// seats measures our own part of the prompt of a model that fills a seat, from the requests as
// they are built.
func (b *bench) seats() (section, error) {
	s := section{Notes: []string{"Bytes of a first request that are neither the brief nor the schema of the answer: " +
		"our words, the tools, and the wire; of the ways to ask for a structured answer the longest. Coding clients " +
		"send their own words and tools beside our words."}}
	for _, role := range []schemas.PipelineRole{schemas.Perceiver, schemas.Planner, schemas.Executor,
		schemas.AgentValidator, schemas.MetaValidator} {
		most := runner.MaxJudging
		if role == schemas.Executor {
			most = runner.MaxExecuting
		}
		for _, kind := range []runner.APIKind{runner.Messages, runner.Responses, runner.Chat} {
			n, err := runner.Overhead(kind, role)
			if err != nil {
				return s, err
			}
			r := row{What: fmt.Sprintf("%s over %s", role, kind), Unit: "bytes", Ours: spreadOf([]float64{float64(n)})}
			s.Rows = append(s.Rows, r.holding(fmt.Sprintf("≤ %d", most), n <= most))
		}
	}
	return s, nil
}
