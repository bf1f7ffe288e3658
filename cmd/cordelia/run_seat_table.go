package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
	runner "cordelia/run"
	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

// mostEnded is how many seats are shown that have ended, beside those that are filled.
const mostEnded = 8

// roomForWhat is the width from which on seats are shown with their subtask, in columns.
// Elsewhere the name of its agent tells which it is, among the criteria.
const roomForWhat = 100

// seatTable shows one line a seat: who fills it, what it does now, and what it took.
func seatTable(list []runner.SeatState, now time.Time, width int) cli.Table {
	t := cli.Table{Firm: 7, Head: []string{"ROLE", "AGENT", "CLIENT", "CALLS", "TOKENS", "COST", "TIME", "FOR", "NOW"}}
	for _, s := range recent(list) {
		about := cli.Clean(cli.Cut(s.About, seatWidth))
		if width > 0 && width < roomForWhat {
			about = ""
		}
		how := cli.Plain
		switch s.Phase {
		case runner.Failing, runner.GivenBack, runner.Postponed:
			how = cli.Yellow
		case runner.Filed:
			how = cli.Dim
		}
		t.Add(cli.Styled(string(s.Role), cli.Bold), cli.Text(cli.Clean(agentMark(s.Agent))),
			cli.Text(cli.Clean(s.Client)),
			cli.Text(fmt.Sprint(s.Calls)), cli.Text(tokenWord(s.Usage)), cli.Text(costWord(s.Usage)),
			cli.Text(took(s, now)), cli.Styled(about, cli.Dim), cli.Styled(cli.Clean(nowWord(s)), how))
	}
	return t
}

// recent are the seats that are filled, and the last of those that have ended, in their
// order.
func recent(list []runner.SeatState) (out []runner.SeatState) {
	ended := 0
	for _, s := range slices.Backward(list) {
		if s.Phase.Over() {
			if ended++; ended > mostEnded {
				continue
			}
		}
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// agentMark is what tells an agent of a run from the others: the end of its name.
func agentMark(name string) string {
	if strings.HasPrefix(name, "run-") {
		return name[strings.LastIndexByte(name, '-')+1:]
	}
	return name
}

// nowWord says what a seat does.
func nowWord(s runner.SeatState) string {
	switch {
	case s.Phase == runner.Working && s.Doing != "":
		return s.Doing
	case s.Phase == runner.Working:
		return map[schemas.PipelineRole]string{schemas.Perceiver: "reads the request", schemas.Planner: "plans",
			schemas.Executor: "works", schemas.AgentValidator: "judges",
			schemas.MetaValidator: "judges the whole"}[s.Role]
	case s.Doing != "":
		return string(s.Phase) + ": " + s.Doing
	}
	return string(s.Phase)
}

// took is how long a seat has been filled.
func took(s runner.SeatState, now time.Time) string {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	return now.Sub(s.Began).Round(time.Second).String()
}

// tokensOf are all that were used, in and out.
func tokensOf(u work.Usage) int64 { return u.Input + u.Cached + u.Written + u.Output }

// tokenWord is a number of tokens, short.
func tokenWord(u work.Usage) string {
	switch n := tokensOf(u); {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
}

// costWord is what a seat cost so far, "" as long as nothing is known of it.
func costWord(u work.Usage) string {
	if u.Cost < 0 {
		return ""
	}
	return cost.Money(u.Cost)
}

// spentLine sums the seats of a run up.
func spentLine(list []runner.SeatState, width int, colours bool) string {
	var sum work.Usage
	calls, unpriced := 0, false
	for _, s := range list {
		calls += s.Calls
		unpriced = unpriced || s.Usage.Cost < 0 && tokensOf(s.Usage) > 0
		sum.Input += tokensOf(s.Usage)
		sum.Cost += max(0, s.Usage.Cost)
	}
	if len(list) == 0 {
		return ""
	}
	first := slices.MinFunc(list, func(a, b runner.SeatState) int { return a.Began.Compare(b.Began) })
	text := fmt.Sprintf("so far %s, %s tokens, %s", schemas.Count(calls, "tool call", "tool calls"), tokenWord(sum),
		cost.Money(sum.Cost))
	if unpriced {
		text += " and what has no price"
	}
	if text += ", since " + first.Began.Local().Format("15:04:05"); width > 0 {
		text = cli.Cut(text, width)
	}
	return cli.Paint(colours, cli.Dim, text) + "\n"
}
