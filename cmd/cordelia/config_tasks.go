package main

import (
	"fmt"
	"slices"
	"time"

	"cordelia/ops"
	"cordelia/pipeline"
	"cordelia/pipeline/controller"
	"cordelia/swarm"
)

// taskSettings are those of the pipeline; what is left out keeps its default.
type taskSettings struct {
	Patience   duration `json:"patience"`      // how long a role may stay unfilled or unanswered; left out: 24h
	Retries    *int     `json:"retries"`       // correction signals for a subtask; left out: 2
	Kin        bool     `json:"judged_by_kin"` // who executed a subtask, or stands above or below it, may judge it; left out: false
	Table      string   `json:"table"`         // of directives: v0.7 or v0.8; left out: v0.7
	KillSwitch bool     `json:"kill_switch"`   // two rounds in a row that move the loss up end a task; left out: false
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
	d.Kin, d.Loss.KillSwitch = s.Kin, s.KillSwitch
	if s.Table != "" {
		at := slices.IndexFunc(pipeline.Tables(), func(t pipeline.Table) bool { return t.Version == s.Table })
		if at < 0 {
			return fmt.Errorf("tasks.table is %q, not v0.7 or v0.8", s.Table)
		}
		d.Loss.Table = pipeline.Tables()[at]
	}
	c.Tasks = &d
	_, err := controller.New(d, swarm.Teams{})
	return err
}
