package config

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"cordelia/node"
	"cordelia/pipeline"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/swarm"
)

// taskSettings are those of the pipeline; what is left out keeps its default.
type taskSettings struct {
	// how long a role may stay unfilled or unanswered
	Patience duration `json:"patience" default:"24h"`
	// correction signals for a subtask
	Retries *int `json:"retries" default:"2"`
	// an executor, and those above and below it, may judge its subtask and merge its round
	Kin bool `json:"judged_by_kin" default:"false"`
	// a call that only its executor claims proves no criterion
	Recorded bool `json:"require_recorded" default:"false"`
	// where no call of an executor proves a criterion, a call of the judge does
	JudgeCalls bool `json:"judge_calls" default:"false"`
	// keep for 30 days what hooks of Claude Code tell of the tool calls of an agent that fills R3
	HookCalls *bool `json:"hook_calls" default:"true"`
	// tools that change nothing, beside the known ones
	Reading []string `json:"reading_tools" default:"none"`
	// what follows from a failed round: steady, patient, beliefs, or v0.7 or v0.8 to the letter
	Policy string `json:"policy" default:"steady"`
	// the older name of policy, for v0.7 and v0.8
	Table string `json:"table"`
	// two rounds in a row that move the loss up end a task
	KillSwitch bool `json:"kill_switch" default:"false"`
	// tools that are never blocked as such, but on what they were used on
	General []string `json:"general_tools" default:"bash, edit, fetch, glob, grep, ls, read, search, write"`
	// the hyperparameters of the loss and its table
	Loss lossSettings `json:"loss"`
}

// lossSettings are the hyperparameters of pipeline v0.7.
type lossSettings struct {
	Alpha        *float64 `json:"alpha" default:"0.6"`       // weight of the distance D between intent and result
	Beta         *float64 `json:"beta" default:"0.3"`        // weight of the implausibility P of the process
	Lambda       *float64 `json:"lambda" default:"0.4"`      // weight of the budget used, Ω
	W1           *float64 `json:"w1" default:"0.6"`          // weight of rounds within Ω
	W2           *float64 `json:"w2" default:"0.4"`          // weight of time within Ω
	Epsilon      *float64 `json:"epsilon" default:"0.1"`     // change of the loss below which it did not move
	Delta        *float64 `json:"delta" default:"0.3"`       // D above it is too far to refine on a plateau
	Rho          *float64 `json:"rho" default:"0.5"`         // P above it blames the approach
	AbandonOmega *float64 `json:"abandon_omega" default:"1"` // Ω from which on a task is abandoned
	MaxReplans   *int     `json:"max_replans" default:"3"`   // rounds after the first, unless a task says otherwise
	TimeBudget   duration `json:"time_budget" default:"30m"` // of work on a task, unless it says otherwise
}

// Configure puts the settings into c.
func (s taskSettings) Configure(c *node.Config) error {
	d := controller.DefaultSettings()
	if s.Patience != 0 {
		d.Patience = time.Duration(s.Patience)
	}
	if s.Retries != nil {
		d.Retries = *s.Retries
	}
	d.Evidence = pipeline.EvidenceRules{RequireRecorded: s.Recorded, JudgeCalls: s.JudgeCalls, Reading: s.Reading}
	d.Kin = s.Kin
	if s.Table != "" && s.Policy != "" && s.Table != s.Policy {
		return fmt.Errorf("tasks.table is %q and tasks.policy %q: the first is the older name of the second, so "+
			"leave it out", s.Table, s.Policy)
	}
	if name := cmp.Or(s.Policy, s.Table); name != "" {
		budget := d.Loss.TimeBudgetMS
		var ok bool
		if d.Loss, ok = pipeline.Policy(name); !ok {
			return fmt.Errorf("tasks.policy is %q, not %s", name, strings.Join(pipeline.Policies(), ", "))
		}
		d.Loss.TimeBudgetMS = budget
	}
	d.Loss.KillSwitch, d.Loss.General = s.KillSwitch, s.General
	if err := s.Loss.Configure(&d.Loss); err != nil {
		return err
	}
	c.Tasks = &d
	c.NoHookCalls = s.HookCalls != nil && !*s.HookCalls
	_, err := controller.New(d, swarm.Teams{})
	return err
}

// Configure puts the hyperparameters that are given into p. Each is a share, 0 to 1.
func (s lossSettings) Configure(p *pipeline.Parameters) error {
	for _, one := range []struct {
		name  string
		given *float64
		into  *float64
	}{
		{"alpha", s.Alpha, &p.Alpha}, {"beta", s.Beta, &p.Beta}, {"lambda", s.Lambda, &p.Lambda}, {"w1", s.W1, &p.W1},
		{"w2", s.W2, &p.W2},
		{"epsilon", s.Epsilon, &p.Epsilon}, {"delta", s.Delta, &p.Delta}, {"rho", s.Rho, &p.Rho},
		{"abandon_omega", s.AbandonOmega, &p.AbandonOmega},
	} {
		if one.given == nil {
			continue
		}
		if *one.given < 0 || *one.given > 1 {
			return schemas.Invalidf("tasks.loss.%s is %g", one.name, *one.given).Expecting("a number from 0 to 1")
		}
		*one.into = *one.given
	}
	if s.MaxReplans != nil {
		p.MaxReplans = *s.MaxReplans
	}
	if p.MaxReplans < 1 || p.MaxReplans > controller.MaxReplans {
		return schemas.Invalidf("tasks.loss.max_replans is %d", p.MaxReplans).Expecting("a number from 1 to %d",
			controller.MaxReplans)
	}
	if s.TimeBudget != 0 {
		p.TimeBudgetMS = time.Duration(s.TimeBudget).Milliseconds()
	}
	return nil
}
