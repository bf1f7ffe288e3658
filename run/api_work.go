package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxNudges is how often the runner asks a model to go on that neither calls a tool nor
// answers.
const maxNudges = 2

// work lets the model call tools until it answers by [answerTool].
func (c *conversation) work(ctx context.Context) (json.RawMessage, error) {
	c.turns = []turn{{user: c.order.Prompt}}
	ask, nudges := c.working(), 0
	for n := 1; c.order.Limits.Turns <= 0 || n <= c.order.Limits.Turns; n++ {
		r, f := c.say(ctx, ask)
		if f != nil {
			return nil, f.fault
		}
		next := turn{}
		if len(r.calls) == 0 {
			if answer, wrong := c.parse(r.text); wrong == "" {
				return answer, nil
			}
			if nudges++; nudges > maxNudges {
				return nil, faultf(NoAnswer, "it ended without a report and said: %s", c.Key.Hide(r.text))
			}
			next.user = "Go on, and end with " + answerTool + "."
			if r.cut {
				next.user = "Your reply was cut at the limit of its length. " + next.user
			}
		}
		answer, results, err := c.carryOut(ctx, r.calls)
		if err != nil || answer != nil {
			return answer, err
		}
		next.results = results
		c.turns = append(c.turns, turn{answer: &r}, next)
	}
	return nil, faultf(NoAnswer, "it was not done after %d replies", c.order.Limits.Turns)
}

// working is a request that offers tools, and one to report by.
func (c *conversation) working() talk {
	return talk{system: c.order.System, shape: freely,
		tools: append(toolSpecs(c.order.Tools), toolSpec{answerTool, "Report at the end.", c.order.Schema})}
}

// carryOut makes the calls of a reply, in order; answer is the report among them.
func (c *conversation) carryOut(ctx context.Context, calls []toolCall) (answer json.RawMessage, results []toolResult,
	err error) {
	for _, call := range calls {
		if call.name == answerTool {
			given, wrong := c.parse(string(call.input))
			if answer = given; wrong == "" {
				continue
			}
			if err := c.unfit(wrong, string(call.input)); err != nil {
				return nil, nil, err
			}
			results = append(results, toolResult{call.id, "This report " + wrong, true})
			continue
		}
		exit, output, err := c.call(ctx, call)
		if err != nil {
			return nil, nil, err
		}
		if exit != 0 {
			output = fmt.Sprintf("exit code %d\n%s", exit, output)
		}
		results = append(results, toolResult{call.id, output, exit != 0})
	}
	return answer, results, nil
}

// call makes one call in the sandbox, and tells it as it happens.
func (c *conversation) call(ctx context.Context, call toolCall) (exit int, output string, err error) {
	var in toolInput
	bad := json.Unmarshal(call.input, &in)
	c.emit(Event{Kind: Called, ID: call.id, Tool: call.name, Input: in.words(call.name, call.input)})
	switch {
	case !slices.Contains(c.order.Tools, call.name):
		exit, output = 1, "there is no tool "+call.name+": use "+strings.Join(c.order.Tools, ", ")
	case bad != nil:
		exit, output = 1, "the input cannot be read: "+bad.Error()
	default:
		exit, output, err = c.confined(ctx, call.name, in, call.input)
	}
	if err != nil {
		return 0, "", err
	}
	output = strings.ToValidUTF8(output, "�")
	c.emit(Event{Kind: Returned, ID: call.id, Exit: exit, Output: output})
	return exit, c.Key.Hide(output), nil
}

// confined runs a tool behind the shield of the order: a shell, or this program.
func (c *conversation) confined(ctx context.Context, tool string, in toolInput,
	raw json.RawMessage) (exit int, output string, err error) {
	run := command{program: c.Self, args: []string{toolCommand, tool}, stdin: string(raw), dir: c.order.Dir,
		self: c.Self, shield: c.order.Shield.reading(c.Self), held: c.order.held}
	limit := verifyFor
	if tool == toolBash {
		if strings.TrimSpace(in.Command) == "" {
			return 1, "command is missing", nil
		}
		run.program, run.args, run.stdin = "bash", []string{"-c", "exec 2>&1\n" + in.Command}, ""
		if in.Timeout > 0 {
			limit = min(limit, time.Duration(in.Timeout)*time.Second)
		}
	}
	return collect(ctx, run, limit, maxShown)
}
