//go:build unix

package main

import (
	"errors"
	"fmt"
	"time"
)

// relay has two members work off planned tasks as workers do: each report claims what
// comes next. It gives what the two calls took that ended each subtask: the one with
// its result and the one with its verdicts, in the order they came.
func (u *bureau) relay(tasks int) (took latencies, err error) {
	var held [2]*seat
	ended := map[string]latencies{}
	for idle := 0; idle < 2*len(held); {
		for i, c := range u.list[:2] {
			if held[i] == nil {
				switch s, _, _, err := c.claimSeat("", 0); {
				case errors.Is(err, errEmpty):
					idle++
				case err != nil:
					return nil, err
				default:
					held[i], idle = &s, 0
				}
				continue
			}
			role, call, err := c.pass(&held[i])
			if err != nil {
				return nil, err
			}
			ended[role] = append(ended[role], call)
		}
	}
	done, judged := ended["R3"], ended["R4a"]
	if len(done) != tasks*perTask || len(judged) != len(done) {
		return nil, fmt.Errorf("of %d tasks %d subtasks were done and %d judged", tasks, len(done), len(judged))
	}
	if err := u.merge(tasks - len(ended["R4b"])); err != nil {
		return nil, err
	}
	for i := range done {
		took = append(took, done[i]+judged[i])
	}
	return took, nil
}

// pass reports the seat that is held and puts what was claimed with it in its place,
// nil for nothing.
func (c *client) pass(held **seat) (role string, took time.Duration, err error) {
	args, err := (*held).report()
	if err != nil {
		return "", 0, err
	}
	args["claim_next"] = true
	role = (*held).role()
	var out struct{ Work *seat }
	took, err = c.call("task_report", args, &out)
	*held = out.Work
	return role, took, err
}
