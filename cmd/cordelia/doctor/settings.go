package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	"cordelia/schemas"
)

// settings checks config.json with the folders it names, and asks the embedding
// model in it, if any.
func (x *examination) settings(ctx context.Context, home node.Home) {
	s, err := config.Read(home)
	if err != nil {
		x.refused("settings", config.Unusable(home, err))
		return
	}
	if err := s.CheckOutward(home, true); err != nil { // of the database another line tells
		x.refused("settings", config.Unusable(home, err))
	} else if s.NATS != nil {
		x.outward(ctx, home, s)
	}
	x.checkFolders(s)
	if s.Embeddings == nil {
		return
	}
	const check = "embeddings"
	model, err := s.Embeddings.Open(home)
	if err != nil {
		x.refused(check, config.Unusable(home, err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a model may have to be loaded first
	defer cancel()
	vector, err := model.Query(ctx, "cordelia")
	switch {
	case schemas.CodeOf(err) == schemas.CodeUnavailable:
		x.report(check, Warning, x.app.HintOf(err), "%s", schemas.MessageOf(err))
		return
	case err != nil:
		x.refused(check, err)
		return
	}
	state := x.vectors
	switch {
	case state == nil:
		x.report(check, Warning, "see the line about the database", "%s at %s answers; its vectors cannot be counted",
			model.Model(), model.Host())
	case state.Model != model.Model():
		x.report(check, Fine, "", "%s at %s answers; nothing is embedded with it yet", model.Model(), model.Host())
	case state.Dim != 0 && state.Dim != len(vector):
		x.report(check, Problem, fmt.Sprintf("set dimensions to %d, or name another model; then every item is "+
			"embedded again",
			state.Dim),
			"%s at %s answers %s; the stored vectors have %d", model.Model(), model.Host(),
			schemas.Count(len(vector), "dimension", "dimensions"), state.Dim)
	default:
		x.report(check, Fine, "", "%s at %s answers; %s embedded, %d to look at", model.Model(), model.Host(),
			schemas.Count(int(state.Embedded), "item", "items"), state.Waiting)
	}
}

// outward asks the NATS server that cordelia serve hands events to.
func (x *examination) outward(ctx context.Context, home node.Home, s config.Settings) {
	const check = "NATS"
	if err := s.ReachOutward(ctx, home); err != nil {
		x.report(check, Warning, x.app.HintOf(err), "%s; events wait", schemas.MessageOf(err))
		return
	}
	x.report(check, Fine, "", "lets this node in; cordelia serve hands events of %s over",
		schemas.Count(len(s.NATS.Groups), "group", "groups"))
}

// checkFolders tells what agents can have looked at, and run, on this machine.
func (x *examination) checkFolders(s config.Settings) {
	const what, cure = "machine checks", "check_roots in config.json"
	if len(s.CheckRoots) == 0 {
		if s.Checks.Commands {
			x.report(what, Warning, "name folders in "+cure+", or take checks.commands out",
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
			x.report(what, Warning, "make it, or take it out of "+cure, "%s is no folder, so no check can be made",
				root)
		case err == nil && filepath.IsLocal(within):
			x.report(what, Warning, "name the folders of projects in "+cure,
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
	x.report(what, Fine, "", "may %s in %s", may, strings.Join(s.CheckRoots, ", "))
}
