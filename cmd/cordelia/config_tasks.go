package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"cordelia/ops"
	"cordelia/pipeline"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/swarm"
)

// taskSettings are those of the pipeline; what is left out keeps its default.
type taskSettings struct {
	Patience   duration     `json:"patience"`         // how long a role may stay unfilled or unanswered; left out: 24h
	Retries    *int         `json:"retries"`          // correction signals for a subtask; left out: 2
	Kin        bool         `json:"judged_by_kin"`    // an executor, and those above and below it, may judge its subtask and merge its round; left out: false
	Recorded   bool         `json:"require_recorded"` // a call that only its executor claims proves no criterion; left out: false
	JudgeCalls bool         `json:"judge_calls"`      // where no call of an executor proves a criterion, a call of the judge does; left out: false
	Reading    []string     `json:"reading_tools"`    // tools that change nothing, beside the known ones; left out: none
	Policy     string       `json:"policy"`           // what follows from a failed round: patient, or v0.7 or v0.8 to the letter; left out: patient
	Table      string       `json:"table"`            // the older name of policy, for v0.7 and v0.8
	KillSwitch bool         `json:"kill_switch"`      // two rounds in a row that move the loss up end a task; left out: false
	General    []string     `json:"general_tools"`    // tools that are never blocked as such, but on what they were used on; left out: bash, edit, fetch, glob, grep, ls, read, search, write
	Loss       lossSettings `json:"loss"`             // the hyperparameters of the loss and its table
}

// lossSettings are the hyperparameters of pipeline v0.7.
type lossSettings struct {
	Alpha        *float64 `json:"alpha"`         // weight of the distance D between intent and result; left out: 0.6
	Beta         *float64 `json:"beta"`          // weight of the implausibility P of the process; left out: 0.3
	Lambda       *float64 `json:"lambda"`        // weight of the budget used, Ω; left out: 0.4
	W1           *float64 `json:"w1"`            // weight of rounds within Ω; left out: 0.6
	W2           *float64 `json:"w2"`            // weight of time within Ω; left out: 0.4
	Epsilon      *float64 `json:"epsilon"`       // change of the loss below which it did not move; left out: 0.1
	Delta        *float64 `json:"delta"`         // D above it is too far to refine on a plateau; left out: 0.3
	Rho          *float64 `json:"rho"`           // P above it blames the approach; left out: 0.5
	AbandonOmega *float64 `json:"abandon_omega"` // Ω from which on a task is abandoned; left out: 0.8
	MaxReplans   *int     `json:"max_replans"`   // rounds after the first, unless a task says otherwise; left out: 3
	TimeBudget   duration `json:"time_budget"`   // of work on a task, unless it says otherwise; left out: 30m
}

// configure puts the settings into c.
func (s taskSettings) configure(c *ops.Config) error {
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
		return fmt.Errorf("tasks.table is %q and tasks.policy %q: the first is the older name of the second, so leave it out", s.Table, s.Policy)
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
	if err := s.Loss.configure(&d.Loss); err != nil {
		return err
	}
	c.Tasks = &d
	_, err := controller.New(d, swarm.Teams{})
	return err
}

// configure puts the hyperparameters that are given into p. Each is a share, 0 to 1.
func (s lossSettings) configure(p *pipeline.Parameters) error {
	for _, one := range []struct {
		name  string
		given *float64
		into  *float64
	}{
		{"alpha", s.Alpha, &p.Alpha}, {"beta", s.Beta, &p.Beta}, {"lambda", s.Lambda, &p.Lambda}, {"w1", s.W1, &p.W1}, {"w2", s.W2, &p.W2},
		{"epsilon", s.Epsilon, &p.Epsilon}, {"delta", s.Delta, &p.Delta}, {"rho", s.Rho, &p.Rho}, {"abandon_omega", s.AbandonOmega, &p.AbandonOmega},
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
		return schemas.Invalidf("tasks.loss.max_replans is %d", p.MaxReplans).Expecting("a number from 1 to %d", controller.MaxReplans)
	}
	if s.TimeBudget != 0 {
		p.TimeBudgetMS = time.Duration(s.TimeBudget).Milliseconds()
	}
	return nil
}
