package config

import (
	"time"

	"cordelia/internal/machinecheck"
	"cordelia/node"
)

// checks is the part of config.json that says what checks of criteria may do, in
// the folders of check_roots.
type checks struct {
	Commands  bool     `json:"commands" default:"false"`    // run the commands that plans name, as this user
	Timeout   duration `json:"timeout" default:"2m"`        // of one command
	MaxOutput int64    `json:"max_output" default:"16 MiB"` // bytes one command may print
}

// Configure puts what checks may do, in those folders, into c.
func (s checks) Configure(c *node.Config, roots []string) {
	c.Checks = machinecheck.Env{Roots: roots, Commands: s.Commands, Timeout: time.Duration(s.Timeout),
		MaxOutput: s.MaxOutput}
}
