package config

import (
	"cordelia/node"
	"cordelia/trust"
)

// trustSettings are those of accuracy trust.
type trustSettings struct {
	// what agents start with that are registered from now on; it changes no score that there is
	Prior priorSettings `json:"prior"`
}

// priorSettings say how reliable an agent is taken to be before any verdict on it.
type priorSettings struct {
	// accuracy taken for granted, 0.3 to 0.8; below 0.6 a new agent writes to no group
	Mean     *float64 `json:"mean" default:"0.6"`
	Strength *int     `json:"strength" default:"5"` // how many verdicts that weighs as much as, 1 to 50
}

// read gives the prior that is set; what is left out keeps its default.
func (s priorSettings) read() (trust.Prior, error) {
	mean, strength := trust.PriorMean, trust.PriorStrength
	if s.Mean != nil {
		mean = *s.Mean
	}
	if s.Strength != nil {
		strength = *s.Strength
	}
	return trust.NewPrior(mean, strength)
}

// Configure puts the settings into c.
func (s trustSettings) Configure(c *node.Config) (err error) {
	c.Prior, err = s.Prior.read()
	return err
}
