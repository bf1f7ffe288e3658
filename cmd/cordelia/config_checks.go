package main

import (
	"os"
	"path/filepath"
	"strings"
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

// configure puts what checks may do, in those folders, into c.
func (s checks) configure(c *node.Config, roots []string) {
	c.Checks = machinecheck.Env{Roots: roots, Commands: s.Commands, Timeout: time.Duration(s.Timeout),
		MaxOutput: s.MaxOutput}
}

// checkFolders tells what agents can have looked at, and run, on this machine.
func (x *examination) checkFolders(s settings) {
	const what, mend = "machine checks", "check_roots in config.json"
	if len(s.CheckRoots) == 0 {
		if s.Checks.Commands {
			x.report(what, warning, "name folders in "+mend+", or take checks.commands out",
				"commands are allowed, and no folder is named that they could run in")
		}
		return
	}
	before := len(x.findings)
	for _, root := range s.CheckRoots {
		info, missing := os.Stat(root)
		within, err := filepath.Rel(root, x.home)
		switch {
		case missing != nil || !info.IsDir():
			x.report(what, warning, "make it, or take it out of "+mend, "%s is no folder, so no check can be made",
				root)
		case err == nil && filepath.IsLocal(within):
			x.report(what, warning, "name the folders of projects in "+mend,
				"the home folder lies in %s, so checks reach its keys", root)
		}
	}
	if len(x.findings) > before {
		return
	}
	may := "look at files"
	if s.Checks.Commands {
		may = "look at files and, because checks.commands is set, run commands that agents name"
	}
	x.report(what, fine, "", "may %s in %s", may, strings.Join(s.CheckRoots, ", "))
}
