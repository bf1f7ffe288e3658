package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	runner "cordelia/run"
	"cordelia/run/git"
	"cordelia/schemas"
)

// byRole reads a flag that gives something to all roles, or to one: ROLE=WHAT.
func byRole(flag string, given []string) (map[schemas.PipelineRole]string, error) {
	out := map[schemas.PipelineRole]string{}
	for _, one := range given {
		name, what, named := strings.Cut(one, "=")
		known := false
		for _, role := range config.SeatedRoles {
			if !named && out[role] == "" {
				out[role], known = one, true
			} else if named && strings.EqualFold(name, string(role)) {
				out[role], known = what, what != ""
			}
		}
		if !known {
			return nil, schemas.Invalidf("--%s %s names no role", flag, one).
				Expecting("R1, R2, R3, R4a or R4b, = and what it gets")
		}
	}
	return out, nil
}

// seating finds who fills each role: as the flags say, else as the settings do.
func (f runFlags) seating(home node.Home) (map[schemas.PipelineRole]*runner.Choice, error) {
	s, err := config.Read(home)
	if err != nil {
		return nil, config.Unusable(home, err)
	}
	set, err := f.orders(s.Seats)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	found := map[string]runner.Client{}
	named := func(name string) (runner.Client, error) {
		if found[name] == nil {
			c, err := config.ClientNamed(name, s.Seats.APIs, home, self)
			if err != nil {
				return nil, err
			}
			found[name] = c
		}
		return found[name], nil
	}
	out, same := map[schemas.PipelineRole]*runner.Choice{}, map[string]*runner.Choice{}
	for _, role := range config.SeatedRoles {
		key := strings.Join(set[role], " ")
		if same[key] == nil {
			if same[key], err = choose(set[role], named); err != nil {
				return nil, err
			}
		}
		out[role] = same[key]
	}
	return out, nil
}

// orders gives who fills each role in turn.
func (f runFlags) orders(s config.Seats) (map[schemas.PipelineRole][]string, error) {
	if len(f.client) > 0 {
		s = config.Seats{Client: f.client, APIs: s.APIs}
	}
	apis := map[string]bool{}
	for _, a := range s.APIs {
		apis[a.Name] = true
	}
	out := map[schemas.PipelineRole][]string{}
	for _, one := range f.seat {
		role, name, named := strings.Cut(one, "=")
		at := slices.IndexFunc(config.SeatedRoles,
			func(r schemas.PipelineRole) bool { return strings.EqualFold(role, string(r)) })
		if !named || at < 0 || name == "" {
			return nil, schemas.Invalidf("--seat %s names no role", one).
				Expecting("R1, R2, R3, R4a or R4b, = and who fills it")
		}
		seat := config.SeatedRoles[at]
		out[seat] = append(out[seat], config.ClientName(name))
	}
	for _, role := range config.SeatedRoles {
		if out[role] == nil {
			out[role] = s.Order(role)
		}
		if err := config.Fillable(role, out[role], apis); err != nil {
			return nil, schemas.Invalidf("%v", err).
				Expecting("claude-code, codex, gemini-cli, or a name of seats.apis in config.json; for R4a code " +
					"before it")
		}
	}
	return out, nil
}

// choose makes the choice of an order. A client that is not there is passed over, unless
// none is.
func choose(order []string, named func(string) (runner.Client, error)) (*runner.Choice, error) {
	c := &runner.Choice{}
	var first error
	there := false
	for _, name := range order {
		if name == runner.CodeName {
			c.Code = true
			continue
		}
		one, err := named(name)
		if err != nil {
			one = runner.Absent{Client: name, Why: schemas.MessageOf(err)}
			if first == nil {
				first = err
			}
		}
		there = there || err == nil
		c.Clients = append(c.Clients, one)
	}
	if !there {
		return nil, first
	}
	return c, nil
}

// seatWords says who fills which roles, and who pays for that.
func seatWords(seats map[schemas.PipelineRole]*runner.Choice) (list []string) {
	var orders []string
	roles, told := map[string][]string{}, map[string]bool{}
	for _, role := range config.SeatedRoles {
		order := strings.Join(seats[role].Names(), ", then ")
		if roles[order] == nil {
			orders = append(orders, order)
		}
		roles[order] = append(roles[order], string(role))
	}
	for _, order := range orders {
		list = append(list, fmt.Sprintf("seats    %s: %s", strings.Join(roles[order], " "), cli.Clean(order)))
	}
	for _, role := range config.SeatedRoles {
		for _, c := range seats[role].Clients {
			pays := "with its own login: its account pays"
			if api, ok := c.(*runner.API); ok {
				pays = fmt.Sprintf("%s at %s: the account of %s pays", cli.Clean(api.Model), api.Host(),
					cli.Clean(api.Payer))
			}
			if !told[c.Name()] {
				list = append(list, fmt.Sprintf("client   %s, %s", c.Name(), pays))
			}
			told[c.Name()] = true
		}
	}
	return list
}

// shield gives what workers may reach, and words it for the user.
func (f runFlags) shield(ctx context.Context, home node.Home,
	repo *git.Repository) (func(string, *git.Worktree, string) (runner.Shield, error), string, error) {
	switch f.sandbox {
	case "none":
		return func(string, *git.Worktree, string) (runner.Shield, error) { return runner.Shield{}, nil },
			"none: workers reach what you can", nil
	case "auto":
	default:
		return nil, "", schemas.Invalidf("--sandbox %s is not known", f.sandbox).Expecting("auto or none")
	}
	enforced, _, err := runner.Shielded()
	if err != nil {
		return nil, "", err
	}
	var add runner.Reach
	for _, path := range f.read {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, "", err
		}
		add.Read = append(add.Read, whole)
	}
	for _, port := range f.ports {
		if port < 1 || port > 65535 {
			return nil, "", schemas.Invalidf("--port %d is no port", port).Expecting("1 to 65535")
		}
		add.Ports = append(add.Ports, uint16(port))
	}
	runs, err := runsFolder()
	if err != nil {
		return nil, "", err
	}
	// What lies beside the worktrees are those of others, and reports.
	if err := runner.KeepClosed(ctx, repo, add, string(home), filepath.Dir(runs)); err != nil {
		return nil, "", err
	}
	return func(place string, w *git.Worktree, door string) (runner.Shield, error) {
		return runner.WorkerShield(ctx, repo, place, w, door, add)
	}, strings.Join(enforced, "; "), nil
}
