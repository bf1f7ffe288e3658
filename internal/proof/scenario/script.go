package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Script is a parsed scenario. A line is one statement; a line that begins with
// a blank continues the one before; # begins a comment line.
//
//	transport both               also run over HTTP; else over stdio alone
//	as worker-1                  who acts from here on; lead is the default agent
//	in FOLDER                    where clients and commands start from here on
//	call TOOL {JSON}             must succeed
//	! call TOOL {JSON} -> CODE   must be refused with that code; denied|revoked is either
//	60 times ! call …            repeated; ${n} is 0, 1, 2 …
//	begin TOOL {JSON}            send a call and go on
//	end  |  ! end -> CODE        wait for its answer
//	run ARG… | ! run ARG… -> 3   a command, and its exit code; --json is added
//	expect PATH OP VALUE         about the last answer
//	until 12s PATH OP VALUE      repeat the last call until it holds
//	save NAME = PATH             use it as ${NAME}; ${kib32} is 32 KiB of text,
//	                             ${testdata} the folder of these scripts
//	clock +30m                   move the node's clocks
//	kill node | stop NAME        as a crash would; in good order
//
// A path walks the structured answer: agents.0.name, events.*.event for all,
// agents.# for how many; $text is what a model reads first, $answer everything,
// and an error's fields are below error. Operators: == != < <= > >= contains
// lacks matches; exists and absent take no value.
type Script struct {
	Both       bool
	Statements []Statement
}

// Statement is one line of a script.
type Statement struct {
	Line  int
	Text  string
	Verb  string // as, in, call, begin, end, run, expect, until, save, clock, kill, stop
	Times int
	Name  string // agent, tool, variable
	Args  string // JSON, or the arguments of a command
	Code  string // the refusal wanted; "" for none
	Path  string
	Op    string
	Value string
	For   time.Duration
}

var (
	repeated  = regexp.MustCompile(`^(\d+) times (.*)$`)
	refused   = regexp.MustCompile(`(?s)^! (.*) -> ([a-z_|]+|\d+)$`)
	operators = []string{"==", "!=", "<", "<=", ">", ">=", "contains", "lacks", "matches", "exists", "absent"}
)

// Parse reads a script; an error names its line.
func Parse(text string) (Script, error) {
	var s Script
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, at := strings.TrimRight(lines[i], " \t"), i+1
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != "" && strings.ContainsAny(lines[i+1][:1], " \t") {
			i++
			line += "\n" + strings.TrimSpace(lines[i])
		}
		if line == "transport both" {
			s.Both = true
			continue
		}
		st, err := parseStatement(line)
		if err != nil {
			return s, fmt.Errorf("line %d: %w", at, err)
		}
		st.Line, st.Text = at, line
		s.Statements = append(s.Statements, st)
	}
	if len(s.Statements) == 0 {
		return s, fmt.Errorf("a script without a statement proves nothing")
	}
	return s, nil
}

func parseStatement(line string) (Statement, error) {
	st := Statement{Times: 1}
	if m := repeated.FindStringSubmatch(line); m != nil {
		st.Times, _ = strconv.Atoi(m[1])
		line = m[2]
	}
	if m := refused.FindStringSubmatch(line); m != nil {
		line, st.Code = m[1], m[2]
	} else if strings.HasPrefix(line, "!") {
		return st, fmt.Errorf("a refusal is written: ! call … -> code")
	}
	st.Verb, line, _ = strings.Cut(line, " ")
	line = strings.TrimSpace(line)
	if st.Code != "" && !slices.Contains([]string{"call", "end", "run"}, st.Verb) {
		return st, fmt.Errorf("%s cannot be refused", st.Verb)
	}
	switch st.Verb {
	case "as", "in", "stop":
		st.Name = line
	case "call", "begin":
		st.Name, st.Args, _ = strings.Cut(line, " ")
		if st.Args == "" {
			st.Args = "{}"
		}
	case "run":
		st.Args = line
	case "end":
		return st, only(line == "", "end stands alone")
	case "kill":
		return st, only(line == "node", "what is killed is the node")
	case "clock":
		var err error
		st.For, err = time.ParseDuration(line)
		return st, err
	case "save":
		st.Name, st.Path, _ = strings.Cut(line, " = ")
		return st, only(st.Path != "", "write: save NAME = PATH")
	case "until":
		limit, rest, _ := strings.Cut(line, " ")
		var err error
		if st.For, err = time.ParseDuration(limit); err != nil {
			return st, err
		}
		return st, st.parseExpectation(rest)
	case "expect":
		return st, st.parseExpectation(line)
	default:
		return st, fmt.Errorf("there is no statement %q", st.Verb)
	}
	return st, only(line != "", "something is missing after "+st.Verb)
}

func (st *Statement) parseExpectation(text string) error {
	parts := strings.SplitN(text, " ", 3)
	if len(parts) < 2 || !slices.Contains(operators, parts[1]) {
		return fmt.Errorf("write: PATH OPERATOR VALUE, with one of %v", operators)
	}
	st.Path, st.Op = parts[0], parts[1]
	alone := st.Op == "exists" || st.Op == "absent"
	if len(parts) == 3 {
		st.Value = parts[2]
	}
	return only(alone == (len(parts) == 2), st.Op+" has a value too many or too few")
}

func only(ok bool, msg string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s", msg)
}
