package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cordelia/agents"
	"cordelia/ops"
	"cordelia/schemas"
)

// settings is the optional file config.json in the home folder. A field left out
// keeps its default; an unknown one is an error. Durations are Go's, as "30m".
type settings struct {
	Presence         duration `json:"presence"`           // how long an agent that is not autonomous works unattended
	Grace            duration `json:"grace"`              // between deactivated and removed
	Cooldown         duration `json:"cooldown"`           // of the node's own suspensions
	RefusedPerMinute int      `json:"refused_per_minute"` // calls before the node suspends
	FailedPerMinute  int      `json:"failed_per_minute"`
}

type duration time.Duration

// UnmarshalJSON reads a positive duration.
func (d *duration) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	v, err := time.ParseDuration(text)
	if err == nil && v <= 0 {
		err = errors.New("a duration must be positive")
	}
	*d = duration(v)
	return err
}

// configure puts the home's settings into c.
func configure(c *ops.Config) error {
	path := filepath.Join(string(c.Home), "config.json")
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s settings
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&s)
	}
	if err == nil && (s.RefusedPerMinute < 0 || s.FailedPerMinute < 0) {
		err = errors.New("a limit must be positive")
	}
	if err != nil {
		return schemas.Invalidf("%s cannot be used: %v", path, err).
			Expecting(`for example {"presence":"30m","grace":"168h","cooldown":"5m","refused_per_minute":60,"failed_per_minute":20}`).
			Try("mend it, or move it away to use the defaults")
	}
	c.Access.Presence = time.Duration(s.Presence)
	c.Access.RefusedPerMinute, c.Access.FailedPerMinute = s.RefusedPerMinute, s.FailedPerMinute
	c.Periods = agents.DefaultPeriods()
	if s.Grace != 0 {
		c.Periods.Grace = time.Duration(s.Grace)
	}
	if s.Cooldown != 0 {
		c.Periods.Cooldown = time.Duration(s.Cooldown)
	}
	return nil
}
