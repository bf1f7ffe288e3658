package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/internal/drive"
	"cordelia/internal/store"
	"cordelia/node"
)

// Line is a line of a story: what happened, and what the answers show of it.
type Line struct {
	Text  string `json:"text"`
	Proof string `json:"proof,omitempty"`
}

// Step is a part of the story, as far as it was played.
type Step struct {
	Name   string         `json:"step"`
	Title  string         `json:"title"`
	Told   []Line         `json:"told"`
	Shown  string         `json:"shown,omitempty"` // in one line; "" = it did not hold
	Facts  map[string]any `json:"facts"`           // from the answers
	TookMS int64          `json:"took_ms"`
	Error  string         `json:"error,omitempty"`
}

// Teller hears the story while it is played, from one goroutine.
type Teller interface {
	Begin(number int, title string)
	Tell(Line)
	Wait(what string) (done func())
}

// Setting is where the story is played.
type Setting struct {
	Binary string   // the program
	Flags  []string // added to every command
	Folder string   // absolute and empty; home, files and copies come to lie in it
	Client string   // the user's coding client, in the story that asks it
	Teller Teller
}

// Home is the folder of the story's keys and database.
func (s Setting) Home() string { return filepath.Join(s.Folder, "home") }

// Strike removes all that a story left, once its processes have ended.
func (s Setting) Strike() error {
	store.Discard(node.Home(s.Home()).Database()) // some of it may lie outside the folder
	return os.RemoveAll(s.Folder)
}

// Story is steps in their order.
type Story struct {
	parts []part
	limit time.Duration // of a step, 0 = stepLimit
}

// Harbour is the story of agents that work together. The lease of the worker that is killed
// runs out while others are played.
func Harbour() Story {
	return Story{parts: []part{
		{"swarm", "A swarm is made", (*stage).makeSwarm},
		{"race", "Its workers race for the work", (*stage).race},
		{"kill", "One is killed in the middle of its work", (*stage).kill},
		{"proof", "One says it is done, without proof, and is refused", (*stage).claimWithoutProof},
		{"replan", "The task is planned anew, with a direction", (*stage).replan},
		{"review", "An agent returns, and what it brings waits for you", (*stage).review},
		{"trust", "An agent proves wrong, and sees less", (*stage).loseTrust},
		{"takeover", "What the killed one held goes on with another", (*stage).takeOver},
		{"audit", "The audit log is tampered with, and caught", (*stage).tamper},
	}}
}

type part struct {
	name, title string
	play        func(*stage, context.Context) error
}

// stepLimit bounds a step, far above the time of any, so that the audience gets an error
// instead of an endless wait.
const stepLimit = time.Minute

// Play plays a story and returns the steps it came to, the one that did not hold
// included. No process it started is left when it returns.
func Play(ctx context.Context, s Setting, of Story) (steps []Step, err error) {
	// The folder that the user is in says nothing about the story's agents, and may be gone.
	st := &stage{Setting: s, node: &drive.Node{Binary: s.Binary, Home: s.Home(), Flags: s.Flags, Env: cleanEnv(),
		Folder: s.Folder}}
	defer st.node.Kill()
	if err := st.furnish(); err != nil {
		return nil, err
	}
	for i, p := range of.parts {
		s.Teller.Begin(i+1, p.title)
		st.step = Step{Name: p.name, Title: p.title, Told: []Line{}, Facts: map[string]any{}}
		start := time.Now()
		limited, done := context.WithTimeout(ctx, cmp.Or(of.limit, stepLimit))
		err := p.play(st, limited)
		done()
		st.step.TookMS = time.Since(start).Milliseconds()
		if ctx.Err() != nil {
			return steps, ctx.Err()
		}
		if err != nil {
			st.step.Error, st.step.Shown = err.Error(), ""
			return append(steps, st.step), fmt.Errorf("step %d, %s: %w", i+1, p.title, err)
		}
		steps = append(steps, st.step)
	}
	return steps, nil
}

// cleanEnv removes the variables with which the user's own client session marks its programs:
// here each agent has a session.
func cleanEnv() (env []string) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "CORDELIA_") ||
			strings.HasPrefix(name, "CLAUDE_") {
			env = append(env, name+"=")
		}
	}
	return env
}

// stage is where the story stands.
type stage struct {
	Setting
	node  *drive.Node
	step  Step
	lead  drive.Client // the user's own agent
	hands []*hand      // the workers
	left  leftover     // what the killed one held
	task  string       // that is planned anew

	secrets map[string]string // of their webhooks
	address string            // of the server
}

// hand is a worker and its session.
type hand struct {
	name, id string
	client   drive.Client
	process  *drive.Process // nil over HTTP
}

// furnish makes the folders, and lets machine checks look at one of them.
func (s *stage) furnish() error {
	for _, dir := range []string{s.Home(), s.files()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	config, err := json.Marshal(object{"check_roots": []string{s.files()}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.Home(), "config.json"), config, 0o600)
}

// files is the folder that the agents work in.
func (s *stage) files() string { return filepath.Join(s.Folder, "files") }

// say adds a line of the story.
func (s *stage) say(format string, args ...any) { s.prove("", format, args...) }

// prove adds a line of the story with its proof.
func (s *stage) prove(proof, format string, args ...any) {
	l := Line{fmt.Sprintf(format, args...), proof}
	s.step.Told = append(s.step.Told, l)
	s.Teller.Tell(l)
}

// errBroken begins the errors of promises that do not hold.
var errBroken = errors.New("this was promised and does not hold")

// check is an error unless ok.
func check(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: %s", errBroken, fmt.Sprintf(format, args...))
}
