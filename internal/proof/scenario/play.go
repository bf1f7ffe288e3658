package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Transport is how a scenario's clients reach the node.
type Transport string

const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
)

// lead is what scripts call the default agent.
const lead = "lead"

// callLimit bounds one call, far above what any should take.
const callLimit = 60 * time.Second

// player runs one script on one node.
type player struct {
	node      *Node
	transport Transport
	address   string // of the HTTP face while it runs

	clients    map[string]Client
	results    map[string]*jsonschema.Schema // what each tool says its results are
	who        string
	vars       map[string]any
	texts      map[string]string // of the answers that vars were saved from
	last       Answer
	told       []*string // the transcript so far
	again      Statement // the last call, for until
	answerLine *string   // its answer in told
	pending    map[string]func(context.Context) (Answer, error)
}

// Play runs a script, and gives its transcript: every answer, word by word. The error names
// the line that broke the promise and what the last answer was.
func Play(ctx context.Context, n *Node, transport Transport, s Script) (transcript []string, err error) {
	p := &player{node: n, transport: transport, clients: map[string]Client{}, results: map[string]*jsonschema.Schema{},
		vars:    map[string]any{"kib32": strings.Repeat("x", 32<<10), "testdata": testdata()},
		texts:   map[string]string{},
		pending: map[string]func(context.Context) (Answer, error){}}
	defer func() {
		for _, line := range p.told {
			transcript = append(transcript, *line)
		}
	}()
	if err := n.SlowClock(); err != nil {
		return nil, err
	}
	for _, st := range s.Statements {
		for i := range st.Times {
			p.vars["n"] = float64(i)
			if err := p.do(ctx, st); err != nil {
				return nil, fmt.Errorf("line %d: %s\n%w\nlast answer (%s): %s %s", st.Line, st.Text, err, p.who,
					p.last.Code, compact(p.last.Value))
			}
			p.record(st)
		}
	}
	for name, c := range p.clients {
		if err := c.Close(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil, nil
}

func (p *player) do(ctx context.Context, st Statement) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	switch st.Verb {
	case "as":
		p.who = st.Name
		_, err := p.client(ctx)
		return err
	case "in":
		p.node.Folder = filepath.Join(filepath.Dir(p.node.Home), st.Name)
		return os.MkdirAll(p.node.Folder, 0o755)
	case "call":
		p.again = st
		return p.call(ctx, st)
	case "begin":
		return p.begin(ctx, st)
	case "end":
		wait := p.pending[p.who]
		if wait == nil {
			return fmt.Errorf("%s has no call under way", p.who)
		}
		delete(p.pending, p.who)
		var err error
		if p.last, err = wait(ctx); err != nil {
			return err
		}
		return p.judge(st)
	case "run":
		return p.run(ctx, st)
	case "expect":
		return p.expect(st)
	case "until":
		return p.until(ctx, st)
	case "save":
		value, ok := look(p.last, st.Path)
		if !ok {
			return fmt.Errorf("%s is absent", st.Path)
		}
		p.vars[st.Name] = value
		p.texts[st.Name] = p.last.Text
		return nil
	case "clock":
		if p.transport == HTTP { // tokens end with time, and clients then get new ones
			clear(p.clients)
		}
		return p.node.MoveClock(st.For)
	case "kill":
		// An item for which a killed process was about to make a vector gets none for minutes.
		if err := p.node.awaitVectors(ctx); err != nil {
			return err
		}
		p.node.Kill()
		clear(p.clients)
		p.address = ""
		return nil
	case "stop":
		c := p.clients[st.Name]
		if c == nil {
			return fmt.Errorf("%s does not run", st.Name)
		}
		delete(p.clients, st.Name)
		return c.Close()
	}
	return fmt.Errorf("there is no statement %q", st.Verb)
}

// client gives the one of who acts, started on first use.
func (p *player) client(ctx context.Context) (Client, error) {
	if c := p.clients[p.who]; c != nil {
		return c, nil
	}
	var c Client
	var err error
	if p.transport == HTTP {
		c, err = p.dial(ctx, p.who)
	} else {
		as := p.who
		if as == lead {
			as = ""
		}
		c, err = p.node.Open(ctx, as)
	}
	if err != nil {
		return nil, err
	}
	p.clients[p.who] = c
	return c, p.learn(ctx, c)
}

// learn reads what the tools offered to c say their results are, and puts the list in the transcript.
func (p *player) learn(ctx context.Context, c Client) error {
	tools, err := c.List(ctx)
	if err != nil {
		return err
	}
	list, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	p.addLine(fmt.Sprintf("tools of %s: %s", p.who, list))
	for _, t := range tools {
		if p.results[t.Name] != nil || t.OutputSchema == nil {
			continue
		}
		if p.results[t.Name], err = compile(t.Name, t.OutputSchema); err != nil {
			return err
		}
	}
	return nil
}

func compile(name string, schema json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

func (p *player) dial(ctx context.Context, name string) (Client, error) {
	if p.address == "" {
		address, err := p.node.Serve(ctx)
		if err != nil {
			return nil, err
		}
		p.address = address
	}
	if name == lead {
		return p.node.Dial(ctx, p.address, "claude-code.key")
	}
	asker, err := p.node.Dial(ctx, p.address, "claude-code.key")
	if err != nil {
		return nil, err
	}
	a, err := asker.Call(ctx, "agent_list", json.RawMessage(fmt.Sprintf(`{"agent": %q}`, name)))
	if err != nil {
		return nil, err
	}
	id, ok := look(a, "agents.0.agent_id")
	if !ok {
		return nil, fmt.Errorf("there is no agent %s: %s", name, a.Text)
	}
	return p.node.Dial(ctx, p.address, "agents/"+fmt.Sprint(id)+".key")
}

func (p *player) call(ctx context.Context, st Statement) error {
	c, err := p.client(ctx)
	if err != nil {
		return err
	}
	args, err := p.fill(st.Args)
	if err != nil {
		return err
	}
	for _, ref := range variable.FindAllStringSubmatch(st.Args, -1) {
		if text, saved := p.texts[ref[1]]; saved && !appears(p.vars[ref[1]], text) {
			return fmt.Errorf("this call takes %s, which did not stand in the text it was saved from: %s", ref[1], text)
		}
	}
	if st.Name == "memory_search" {
		if err := p.node.awaitVectors(ctx); err != nil {
			return err
		}
	}
	if p.last, err = c.Call(ctx, st.Name, json.RawMessage(args)); err != nil {
		return err
	}
	if s := p.results[st.Name]; s != nil && p.last.Code == "" {
		if err := s.Validate(p.last.Value); err != nil {
			return fmt.Errorf("the result is not what its schema says, so clients drop it: %w", err)
		}
		if lack := missing(p.last); lack != "" {
			return fmt.Errorf("the text, which is all that a model gets, lacks %s: %s", lack, p.last.Text)
		}
	}
	return p.judge(st)
}

func (p *player) begin(ctx context.Context, st Statement) error {
	c, err := p.client(ctx)
	if err != nil {
		return err
	}
	args, err := p.fill(st.Args)
	if err != nil {
		return err
	}
	if process, ok := c.(*Process); ok { // sent before anything that follows
		p.pending[p.who], err = process.Begin(st.Name, json.RawMessage(args))
		return err
	}
	type outcome struct {
		a   Answer
		err error
	}
	answer := make(chan outcome, 1)
	go func() {
		a, err := c.Call(context.WithoutCancel(ctx), st.Name, json.RawMessage(args))
		answer <- outcome{a, err}
	}()
	p.pending[p.who] = func(ctx context.Context) (Answer, error) {
		select {
		case o := <-answer:
			return o.a, o.err
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
	return nil
}

// run runs a command; what it prints is the answer.
func (p *player) run(ctx context.Context, st Statement) error {
	args, err := p.fill(st.Args)
	if err != nil {
		return err
	}
	out, errOut, code, err := p.node.Run(ctx, append(strings.Fields(args), "--json")...)
	if err != nil {
		return err
	}
	p.last = Answer{Value: literal(out), Text: out + errOut}
	if code != 0 {
		p.last.Code = strconv.Itoa(code)
	}
	return p.judge(st)
}

// judge checks the outcome against the one wanted.
func (p *player) judge(st Statement) error {
	switch {
	case p.last.Code == "" && st.Code == "", p.last.Code != "" &&
		slices.Contains(strings.Split(st.Code, "|"), p.last.Code):
		return nil
	case st.Code == "":
		return fmt.Errorf("refused: %s", p.last.Text)
	case p.last.Code == "":
		return fmt.Errorf("succeeded, where %s was promised: %s", st.Code, p.last.Text)
	}
	return fmt.Errorf("refused with %s, where %s was promised: %s", p.last.Code, st.Code, p.last.Text)
}

func (p *player) expect(st Statement) error {
	value, err := p.fill(st.Value)
	if err != nil {
		return err
	}
	return meets(p.last, st.Path, st.Op, value)
}

// until repeats the last call, also after errors, until the expectation holds: for what the
// node does by itself within a bounded time.
func (p *player) until(ctx context.Context, st Statement) error {
	limited, cancel := context.WithTimeout(ctx, st.For)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := p.expect(st)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			return err
		}
		c, failed := p.client(ctx)
		if failed != nil {
			return failed
		}
		args, failed := p.fill(p.again.Args)
		if failed != nil {
			return failed
		}
		if p.last, failed = c.Call(ctx, p.again.Name, json.RawMessage(args)); failed != nil {
			return failed
		}
	}
}

var variable = regexp.MustCompile(`\$\{([a-z_0-9]+)\}`)

// fill puts saved values in: strings as they are, everything else as JSON.
func (p *player) fill(text string) (string, error) {
	var missing error
	filled := variable.ReplaceAllStringFunc(text, func(ref string) string {
		name := ref[2 : len(ref)-1]
		value, ok := p.vars[name]
		if !ok {
			missing = fmt.Errorf("nothing was saved as %s", name)
		}
		if s, ok := value.(string); ok {
			return s
		}
		return compact(value)
	})
	return filled, missing
}

// testdata is the folder of the scripts, for commands that read a file beside them.
func testdata() string {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		return "testdata"
	}
	return dir
}
