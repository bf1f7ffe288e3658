package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// object is a JSON object of the stream.
type object = map[string]any

// turn is one run of the client.
type turn struct {
	script
	role, prompt string
	calls        int
	edited       bool // the judge's brief said that a check was changed
	failed       bool // an error stands beside its answer
}

// say prints a line of the stream.
func (t *turn) say(line object) {
	raw, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", raw)
}

// begin says that the client is up.
func (t *turn) begin() {
	t.say(object{"type": "system", "subtype": "init", "cwd": "/", "session_id": "s1", "tools": []string{},
		"model": "claude-opus-5-5", "permissionMode": "dontAsk", "apiKeySource": "ANTHROPIC_API_KEY"})
}

// run really runs a command, and tells the call as the client does.
func (t *turn) run(command string) {
	t.calls++
	id := fmt.Sprintf("toolu_%d", t.calls)
	t.say(object{"type": "assistant", "message": object{"id": "msg_" + id, "role": "assistant", "content": []object{
		{"type": "tool_use", "id": id, "name": "Bash", "input": object{"command": command, "description": "x"}}},
		"usage": object{"input_tokens": 10, "output_tokens": 5}}})
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	text, bad := string(out), false
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		text, bad = fmt.Sprintf("Exit code %d\n%s", failed.ExitCode(), out), true
	} else if text == "" {
		text = "(Bash completed with no output)"
	}
	t.say(object{"type": "user", "message": object{"role": "user", "content": []object{
		{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": bad}}}})
}

// work does what the role does, and answers.
func (t *turn) work() error {
	time.Sleep(time.Duration(t.Pause) * time.Millisecond)
	answer, err := t.answer()
	if err != nil {
		return err
	}
	t.end(answer)
	return nil
}

// answer is that of the role; an executor works before.
func (t *turn) answer() (json.RawMessage, error) {
	if strings.Contains(t.prompt, "the word: ready") { // it is tried out
		return json.Marshal(object{"word": "ready"})
	}
	switch t.role {
	case "R1":
		m := regexp.MustCompile(`"request": "([^"]*)"`).FindStringSubmatch(t.prompt)
		if m == nil {
			return nil, errors.New("the brief has no request")
		}
		return json.Marshal(object{"intent": m[1]})
	case "R2":
		return t.Plan, nil
	case "R4a", "R4b":
		return t.judge()
	}
	done := false
	for words, commands := range t.Work {
		if !strings.Contains(t.prompt, words) {
			continue
		}
		done = true
		for _, command := range commands {
			t.run(command)
		}
	}
	if !done {
		return nil, fmt.Errorf("the script has no work for: %.300s", t.prompt)
	}
	return json.Marshal(object{"outcome": "done", "result": object{"text": "done"}, "evidence": []object{}})
}

// judge lets everything pass: what decides is the record.
func (t *turn) judge() (json.RawMessage, error) {
	_, brief, _ := strings.Cut(t.prompt, "brief: ")
	var in struct {
		Inputs struct {
			Criteria []struct{ Criterion string } `json:"criteria"`
		} `json:"inputs"`
	}
	if err := json.NewDecoder(strings.NewReader(brief)).Decode(&in); err != nil {
		return nil, fmt.Errorf("read the brief: %w", err)
	}
	verdicts := []object{}
	for _, c := range in.Inputs.Criteria {
		one := object{"criterion": c.Criterion, "verdict": "pass", "evidence": "the record shows it"}
		if t.edited {
			one = object{"criterion": c.Criterion, "verdict": "fail", "failure_class": "logical",
				"evidence": "check.sh checks nothing any more"}
		}
		verdicts = append(verdicts, one)
	}
	out := object{"verdicts": verdicts}
	if t.role == "R4b" {
		out["output"] = "done"
	}
	return json.Marshal(out)
}

// end tells the result.
func (t *turn) end(answer json.RawMessage) {
	t.say(object{"type": "result", "subtype": "success", "is_error": t.failed, "terminal_reason": "completed",
		"result": "done", "structured_output": answer, "stop_reason": "end_turn", "total_cost_usd": 0.001,
		"usage": object{"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 5}})
}

// without tells a result that has no answer.
func (t *turn) without(stop, words string, isError bool) {
	t.say(object{"type": "result", "subtype": "success", "is_error": isError, "terminal_reason": "completed",
		"result": words, "structured_output": nil, "stop_reason": stop, "total_cost_usd": 0.001, "usage": object{}})
}

// hang stays until it is killed.
func hang() {
	os.Stdout.Sync() //nolint:errcheck // a pipe
	time.Sleep(time.Hour)
}
