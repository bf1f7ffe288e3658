package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
)

func main() {
	data := flag.String("data", "internal/proof/replaystudy/testdata", "folder of whowhen.jsonl and tau.jsonl")
	page := flag.String("page", filepath.Join("docs", "replay.md"), "page to write the figures into; empty = none")
	flag.Parse()
	if err := run(*data, *page); err != nil {
		fmt.Fprintln(os.Stderr, "replaystudy:", err)
		os.Exit(1)
	}
}

func run(data, page string) error {
	logs, err := read[log](data, "whowhen.jsonl")
	if err != nil {
		return err
	}
	trajectories, err := read[trajectory](data, "tau.jsonl")
	if err != nil {
		return err
	}
	text, err := report(logs, trajectories)
	if err != nil {
		return err
	}
	fmt.Print(text)
	if page == "" {
		return nil
	}
	return figures.Write(page, text)
}

// firings are the steps after which a policy fires in a run.
func firings(c contender, rounds []round) (steps []int, err error) {
	p := c.make()
	for _, r := range rounds {
		fires, err := p.after(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if fires {
			steps = append(steps, r.step)
		}
	}
	return steps, nil
}

// noticed is how a policy fared on some failed runs.
type noticed struct {
	runs          int
	before        int       // first fired at or before the mistake
	after         int       // first fired after it
	never         int       //
	delays        []float64 // steps from the mistake to the first firing after it, earlier ones or not
	wasted, steps float64   // steps after the mistake until then, of all after it
}

func notice(c contender, logs []log) (n noticed, err error) {
	for _, l := range logs {
		steps, err := firings(c, l.rounds())
		if err != nil {
			return n, err
		}
		n.runs++
		switch {
		case len(steps) == 0:
			n.never++
		case steps[0] <= l.Mistake:
			n.before++
		default:
			n.after++
		}
		left := float64(l.Steps - 1 - l.Mistake)
		n.steps += left
		at := slices.IndexFunc(steps, func(s int) bool { return s > l.Mistake })
		if at < 0 {
			n.wasted += left
			continue
		}
		n.delays = append(n.delays, float64(steps[at]-l.Mistake))
		n.wasted += float64(steps[at] - l.Mistake)
	}
	return n, nil
}

// quartiles are the first, second and third, by linear interpolation.
func quartiles(list []float64) string {
	if len(list) == 0 {
		return "–"
	}
	list = slices.Sorted(slices.Values(list))
	at := func(q float64) float64 {
		x := q * float64(len(list)-1)
		low, high := int(math.Floor(x)), int(math.Ceil(x))
		return list[low] + (list[high]-list[low])*(x-math.Floor(x))
	}
	return fmt.Sprintf("%.1f / %.1f / %.1f", at(0.25), at(0.5), at(0.75))
}

// wilson is a share with its 95 % interval (Wilson 1927).
func wilson(n, of int) string {
	if of == 0 {
		return "–"
	}
	const z = 1.96
	total := float64(of)
	share := float64(n) / total
	middle := (share + z*z/(2*total)) / (1 + z*z/total)
	half := z * math.Sqrt(share*(1-share)/total+z*z/(4*total*total)) / (1 + z*z/total)
	return fmt.Sprintf("%.0f (%.0f–%.0f)", 100*share, 100*(middle-half), 100*(middle+half))
}

func report(logs []log, trajectories []trajectory) (string, error) {
	var b strings.Builder
	for _, s := range []struct{ system, title string }{
		{"magentic-one", "Failed runs with an orchestrator"}, {"captain-agent", "Failed runs of generated teams"}} {
		of := slices.DeleteFunc(slices.Clone(logs), func(l log) bool { return l.System != s.system })
		fmt.Fprintf(&b, "**%s** (%d)\n\n| policy | first fires at or before the mistake, %% | after it, %% | never, %% | "+
			"steps from the mistake to the next firing, quartiles | runs with one | steps after the mistake until then, %% |\n"+
			"|---|--:|--:|--:|--:|--:|--:|\n", s.title, len(of))
		for _, c := range contenders() {
			n, err := notice(c, of)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %d | %.0f |\n", c.name, wilson(n.before, n.runs),
				wilson(n.after, n.runs), wilson(n.never, n.runs), quartiles(n.delays), len(n.delays),
				100*n.wasted/n.steps)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "**Runs with tools**\n\n"+
		"| policy | false alarms: fires on a run that solved its task, %% | fires on a "+
		"run that did not, %% | calls until the first firing there, quartiles |\n|---|--:|--:|--:|\n")
	for _, c := range contenders() {
		var fired, runs [2]int
		var until []float64
		for _, t := range trajectories {
			steps, err := firings(c, t.rounds())
			if err != nil {
				return "", err
			}
			kind := 0
			if t.Reward < 1 {
				kind = 1
			}
			runs[kind]++
			if len(steps) > 0 {
				fired[kind]++
				if kind == 1 {
					until = append(until, float64(steps[0]+1))
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.name, wilson(fired[0], runs[0]), wilson(fired[1], runs[1]),
			quartiles(until))
	}
	return b.String(), nil
}
