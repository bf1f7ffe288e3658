package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	runner "cordelia/run"
	"cordelia/schemas"
)

// seatedRoles are the roles that a client fills.
var seatedRoles = []schemas.PipelineRole{schemas.Perceiver, schemas.Planner, schemas.Executor, schemas.AgentValidator,
	schemas.MetaValidator}

// byRole reads a flag that gives something to all roles, or to one: ROLE=WHAT.
func byRole(flag string, given []string) (map[schemas.PipelineRole]string, error) {
	out := map[schemas.PipelineRole]string{}
	for _, one := range given {
		name, what, named := strings.Cut(one, "=")
		known := false
		for _, role := range seatedRoles {
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

// clients finds who fills each role.
func (f runFlags) clients() (map[schemas.PipelineRole]runner.Client, error) {
	wanted, err := byRole("seat", f.seat)
	if err != nil {
		return nil, err
	}
	out, found := map[schemas.PipelineRole]runner.Client{}, map[string]runner.Client{}
	for _, role := range seatedRoles {
		name := wanted[role]
		if name == "" {
			name = f.client
		}
		if found[name] == nil {
			if found[name], err = clientNamed(name); err != nil {
				return nil, err
			}
		}
		out[role] = found[name]
	}
	return out, nil
}

// clientNamed finds a coding client on this machine.
func clientNamed(name string) (runner.Client, error) {
	if name == "claude" { // as its program is called
		name = "claude-code"
	}
	programs := map[string]string{"claude-code": "claude", "codex": "codex"}
	program, known := programs[name]
	if !known {
		return nil, schemas.Invalidf("there is no client %q", name).Expecting("claude-code or codex")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "%s is not installed: there is no %s in PATH", name,
			program).
			Try("install it, start it once and log in; then run this again").Because(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if name == "codex" {
		return runner.Codex{Program: path, Self: self}, nil
	}
	return runner.ClaudeCode{Program: path, Self: self}, nil
}

// shield gives what workers may reach, and words it for the user.
func (f runFlags) shield(ctx context.Context,
	repo *runner.Repository) (func(string, *runner.Worktree, string) (runner.Shield, error), string, error) {
	switch f.sandbox {
	case "none":
		return func(string, *runner.Worktree, string) (runner.Shield, error) { return runner.Shield{}, nil },
			"none: workers reach what you can", nil
	case "auto":
	default:
		return nil, "", schemas.Invalidf("--sandbox %s is not known", f.sandbox).Expecting("auto or none")
	}
	holds, _, err := runner.Shielded()
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
			return nil, "", schemas.Invalidf("--port %d is none", port).Expecting("1 to 65535")
		}
		add.Ports = append(add.Ports, uint16(port))
	}
	return func(place string, w *runner.Worktree, door string) (runner.Shield, error) {
		return repo.WorkerShield(ctx, place, w, door, add)
	}, strings.Join(holds, "; "), nil
}
