package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	runner "cordelia/run"
	"cordelia/schemas"
)

// seatTrial is what a client is asked to prove that it can fill a seat: one word.
var seatTrial = runner.Order{System: "You are tried out. You have no tools: answer at once, with StructuredOutput.",
	Prompt: "Answer with the word: ready",
	Schema: json.RawMessage(`{"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],` +
		` "additionalProperties": false}`),
	Limits: runner.Limits{First: time.Minute, Idle: time.Minute, Total: 2 * time.Minute, Turns: 3}}

// seats asks each client and API that could fill a seat for one word, all at once. It says
// which client is not installed; an installed one that does not answer is a problem.
func (x *examination) seats(ctx context.Context, home node.Home) {
	s, err := config.Read(home)
	if err != nil {
		return // the check of the settings says so
	}
	self, err := os.Executable()
	if err != nil {
		x.report("seats", Problem, "", "this program is not found: %v", err)
		return
	}
	names := cli.SortedKeys(config.Clients)
	for _, a := range s.Seats.APIs {
		names = append(names, a.Name)
	}
	found := make([]Finding, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		asking.Go(func() {
			client, err := config.ClientNamed(name, s.Seats.APIs, home, self)
			if err != nil {
				found[i] = Finding{Check: "seats: " + name, Verdict: Skipped, Detail: schemas.MessageOf(err),
					Fix: x.app.HintOf(err)}
				return
			}
			found[i] = tried(ctx, client)
		})
	}
	asking.Wait()
	for _, role := range config.SeatedRoles {
		unfilled(found, names, role, s.Seats.Order(role))
	}
	x.findings = append(x.findings, found...)
}

// unfilled makes it a problem that none of those who are to fill a role can be asked: a run is
// refused then.
func unfilled(found []Finding, names []string, role schemas.PipelineRole, order []string) {
	var skipped []int
	for _, name := range order {
		at := slices.Index(names, name)
		switch {
		case name == runner.CodeName:
		case at >= 0 && (found[at].Verdict == Skipped || strings.Contains(found[at].Detail, cannotFill)):
			skipped = append(skipped, at)
		default:
			return
		}
	}
	for _, at := range skipped {
		if found[at].Verdict == Skipped {
			found[at].Verdict = Problem
			found[at].Detail += cannotFill
		}
		found[at].Detail += " " + string(role)
	}
}

// cannotFill begins the list of roles that have no seat.
const cannotFill = "; nobody can fill"

// tried asks one client for one word.
func tried(ctx context.Context, client runner.Client) Finding {
	f := Finding{Check: "seats: " + client.Name(), Verdict: Fine}
	began := time.Now()
	answer, err := client.Ask(ctx, seatTrial, func(runner.Event) {})
	var trial struct {
		Word string `json:"word"`
	}
	if err == nil && (json.Unmarshal(answer.Structured, &trial) != nil || trial.Word == "") {
		err = fmt.Errorf("its answer does not fit the schema: %.100s", answer.Structured)
	}
	if err == nil {
		f.Detail = fmt.Sprintf("said %q after %s, %s, model %s, paid by %s", cli.Clean(trial.Word),
			time.Since(began).Round(100*time.Millisecond), cli.SpentWords(answer.Usage), orUnknown(answer.Model),
			orUnknown(answer.Payer))
		return f
	}
	f.Verdict, f.Detail = Problem, cli.Clean(err.Error())
	fault, ok := errors.AsType[*runner.Fault](err)
	switch {
	case !ok:
	case fault.Kind == runner.Unpaid:
		f.Fix = "start it once and log in, or give it its key"
	case fault.Kind == runner.Limit:
		f.Verdict, f.Fix = Warning, "wait until its limit is over; a run does so by itself"
	case fault.Kind == runner.NoStart:
		f.Fix = "start it by hand and see what it says"
	}
	return f
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return cli.Clean(s)
}
