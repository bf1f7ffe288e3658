package config

import (
	"os/exec"
	"path/filepath"

	"cordelia/node"
	runner "cordelia/run"
	"cordelia/schemas"
)

// Client finds the coding client, or makes the client of an API, that goes by a name in this
// home.
func Client(name string, home node.Home, self string) (runner.Client, error) {
	s, err := Read(home)
	if err != nil {
		return nil, Unusable(home, err)
	}
	apis := map[string]bool{}
	for _, a := range s.Seats.APIs {
		apis[a.Name] = true
	}
	name = ClientName(name)
	if err := Fillable(schemas.Executor, []string{name}, apis); err != nil {
		return nil, schemas.Invalidf("%v here", err).
			Expecting("claude-code, codex, gemini-cli, or a name of seats.apis in config.json")
	}
	return ClientNamed(name, s.Seats.APIs, home, self)
}

// ClientNamed finds a coding client on this machine, or makes the client of an API.
func ClientNamed(name string, apis []API, home node.Home, self string) (runner.Client, error) {
	for _, a := range apis {
		if a.Name == name {
			c, err := a.Client(home, self)
			if err != nil {
				return nil, err // and no nil pointer that looks like a client
			}
			return c, nil
		}
	}
	path, err := exec.LookPath(Clients[name])
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "%s is not installed: there is no %s in PATH", name,
			Clients[name]).
			Try("install it, start it once and log in; then run this again").Because(err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	switch name {
	case "codex":
		return runner.Codex{Program: path, Self: self}, nil
	case "gemini-cli":
		return runner.Gemini{Program: path, Self: self}, nil
	}
	return runner.ClaudeCode{Program: path, Self: self}, nil
}
