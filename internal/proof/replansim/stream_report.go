package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
	"cordelia/pipeline"
)

// streamSeed is the first of the streams' seeds; tuning takes those far behind.
const (
	streamSeed       = 1
	streamTuningSeed = 2_000_001
)

// streams plays every stream with memory and without, over all seeds.
type streams map[string][memorySettings][]streamed // by name

func runStreams(from uint64) (streams, error) {
	kinds := streamKinds()
	out := streams{}
	for _, k := range kinds {
		var runs [memorySettings][]streamed
		for i := range runs {
			runs[i] = make([]streamed, streamSeeds)
		}
		out[k.name] = runs
	}
	const settings = int(memorySettings)
	err := figures.Each(context.Background(), "streams", len(kinds)*streamSeeds*settings,
		func(_ context.Context, i int, _ string) (err error) {
			k, seed, kept := kinds[i/(settings*streamSeeds)], i/settings%streamSeeds, memory(i%settings)
			out[k.name][kept][seed], err = runStream(k, pipeline.DefaultPolicy, from+uint64(seed), kept)
			return err
		})
	return out, err
}

// byPolicy says what each policy solves of tasks that have nothing in common, without lessons.
func byPolicy(from uint64) (string, error) {
	names, k := pipeline.Policies(), streamKinds()[2]
	list := make([][]streamed, len(names))
	for i := range list {
		list[i] = make([]streamed, streamSeeds)
	}
	err := figures.Each(context.Background(), "policies", len(names)*streamSeeds,
		func(_ context.Context, i int, _ string) (err error) {
			policy, seed := i/streamSeeds, i%streamSeeds
			list[policy][seed], err = runStream(k, names[policy], from+uint64(seed), forgets)
			return err
		})
	if err != nil {
		return "", err
	}
	solved := func(v streamed) float64 { return 100 * v.solved / streamTasks }
	ours := each(list[slices.Index(names, pipeline.DefaultPolicy)], solved)
	var b strings.Builder
	fmt.Fprintf(&b, "\n**Without lessons, %s tasks** \\*\n\n"+
		"| policy | solved, %% | %s solves more by, points |\n|---|--:|--:|\n", k.name, pipeline.DefaultPolicy)
	for i, name := range names {
		mean, half := figures.Mean(each(list[i], solved))
		gain := "–"
		if name != pipeline.DefaultPolicy {
			more, width, _ := figures.Paired(ours, each(list[i], solved))
			gain = fmt.Sprintf("%+.1f ± %.1f", more, width)
		}
		fmt.Fprintf(&b, "| %s | %.1f ± %.1f | %s |\n", name, mean, half, gain)
	}
	return b.String(), nil
}

// each gives a value of every seed.
func each(list []streamed, value func(streamed) float64) (values []float64) {
	for _, s := range list {
		values = append(values, value(s))
	}
	return values
}

func (s streams) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| stream | solved with lessons, %% | without | difference, points | rounds a task with | without | "+
		"difference | first plans that lessons gave, %% | of these, could not work, %% | first plans left as two tasks "+
		"failed alike \\*, %% | of these, would have worked, %% |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	type line struct{ expected, came string }
	var lines []line
	var refused, worse []string
	solved := func(v streamed) float64 { return 100 * v.solved / streamTasks }
	rounds := func(v streamed) float64 { return v.rounds / streamTasks }
	mean := func(list []streamed, value func(streamed) float64) float64 {
		m, _ := figures.Mean(each(list, value))
		return m
	}
	for _, k := range streamKinds() {
		off, on := s[k.name][forgets], s[k.name][learns]
		more, half, p := figures.Paired(each(on, solved), each(off, solved))
		fewer, halfRounds, pRounds := figures.Paired(each(on, rounds), each(off, rounds))
		all := sum(on)
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %+.1f ± %.1f | %.2f | %.2f | %+.2f ± %.2f | %.1f | %s | %.1f | %s |\n",
			k.name, mean(on, solved), mean(off, solved), more, half, mean(on, rounds), mean(off, rounds), fewer, halfRounds,
			100*all.preferred/(streamSeeds*streamTasks), percent(all.wrong, all.preferred),
			100*all.avoided/(streamSeeds*streamTasks), percent(all.lost, all.avoided))
		if all.refused > 0 {
			refused = append(refused, fmt.Sprintf("%s (%.0f of %.0f)", k.name, all.worked, all.refused))
		}
		if less, half, _ := figures.Paired(each(s[k.name][refuses], solved), each(on, solved)); less > half {
			worse = append(worse, fmt.Sprintf("%s (%.1f ± %.1f points less)", k.name, less, half))
		}
		lines = append(lines, line{k.name + ": " + k.expect, came(more, p, fewer, pRounds)})
	}
	lines = append(lines, line{expectRefused, verdict(refused, "holds: without a person's release none is refused")},
		line{expectAdvice, verdict(worse, "holds")})
	b.WriteString("\n| expected before the first run | what came |\n|---|---|\n")
	for _, l := range lines {
		fmt.Fprintf(&b, "| %s | %s |\n", l.expected, l.came)
	}
	b.WriteString("\n**If two tasks that failed alike refused a plan** \\*\n\n| stream | solved, % | more than with " +
		"advice, points | plans refused, % | of these, would have worked, % |\n|---|--:|--:|--:|--:|\n")
	for _, k := range streamKinds() {
		list := s[k.name][refuses]
		more, half, _ := figures.Paired(each(list, solved), each(s[k.name][learns], solved))
		all := sum(list)
		fmt.Fprintf(&b, "| %s | %.1f | %+.1f ± %.1f | %.1f | %s |\n", k.name, mean(list, solved), more, half,
			100*all.refused/(streamSeeds*streamTasks), percent(all.worked, all.refused))
	}
	return b.String()
}

// sum adds up what happened to plans over all seeds.
func sum(list []streamed) (all streamed) {
	for _, v := range list {
		all.preferred, all.wrong = all.preferred+v.preferred, all.wrong+v.wrong
		all.refused, all.worked = all.refused+v.refused, all.worked+v.worked
		all.avoided, all.lost = all.avoided+v.avoided, all.lost+v.lost
	}
	return all
}

// verdict is what came of an expectation: where it fails, or that it holds.
func verdict(fails []string, otherwise string) string {
	if len(fails) > 0 {
		return "fails: " + strings.Join(fails, ", ")
	}
	return otherwise
}

func percent(n, of float64) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f (%.0f of %.0f)", 100*n/of, n, of)
}

// came says what of a difference is beyond chance.
func came(more, p, fewer, pRounds float64) string {
	says := "as much is solved"
	switch {
	case p < 0.05 && more > 0:
		says = "more is solved"
	case p < 0.05:
		says = "less is solved"
	}
	switch {
	case pRounds < 0.05 && fewer < 0:
		return says + ", in fewer rounds"
	case pRounds < 0.05:
		return says + ", in more rounds"
	}
	return says + ", in as many rounds"
}
