package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/internal/proof/figures"
)

// report is the runs as tables and a plot.
type report struct {
	played
	fresh, mixes, plain []kind
}

// publish prints the figures and writes them, and the plot, into the folder docs.
func (r report) publish(docs string) error {
	text := r.text()
	fmt.Print(text)
	if err := figures.Write(filepath.Join(docs, "replan.md"), text); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, "replan-solved.svg"), []byte(r.plot()),
		0o644) //nolint:gosec // a public page
}

// text begins with what the design loses.
func (r report) text() string {
	var b strings.Builder
	b.WriteString(r.lost() + "\n" + r.judged() + "\n")
	for _, bud := range budgets() {
		for _, group := range []struct {
			name  string
			kinds []kind
		}{{"fresh mixes", r.fresh}, {"reported mixes", r.mixes}, {"plain plants", r.plain}} {
			if len(group.kinds) > 0 {
				b.WriteString(r.summary(bud, group.name, group.kinds) + "\n")
			}
		}
		b.WriteString(r.table(bud, slices.Concat(r.fresh, r.mixes, r.plain)) + "\n")
	}
	b.WriteString("| mix | |\n|---|---|\n")
	for _, k := range slices.Concat(r.fresh, r.mixes) {
		fmt.Fprintf(&b, "| %s | %s |\n", k.name, k.about)
	}
	return b.String()
}

// bySeed gives what a measure comes to for each seed, over some kinds of task; NaN where
// no run of a seed has a value.
func (r report) bySeed(b budget, kinds []kind, contender string, value func(ended) (float64, bool)) []float64 {
	list := make([]float64, seeds)
	for s := range list {
		sum, n := 0.0, 0.0
		for _, k := range kinds {
			for _, e := range r.played[cell{b.name, k.name, contender}][s*tasks : (s+1)*tasks] {
				if v, ok := value(e); ok {
					sum, n = sum+v, n+1
				}
			}
		}
		list[s] = sum / n // 0 ÷ 0 is NaN
	}
	return list
}

// solvedPercent is the share of tasks that were solved, of those that something solves.
func solvedPercent(e ended) (float64, bool) {
	if e.solved {
		return 100, true
	}
	return 0, !e.doomed
}

func solvable(kinds []kind) (list []kind) {
	for _, k := range kinds {
		if k.solvable {
			list = append(list, k)
		}
	}
	return list
}

// comparison is the design beside a rival on some kinds of task.
type comparison struct {
	budget, kind, rival string
	mean, half, p       float64 // points the design solves more
}

func (r report) compare(b budget, name string, kinds []kind, rival string) comparison {
	c := comparison{budget: b.name, kind: name, rival: rival}
	c.mean, c.half, c.p = figures.Paired(r.bySeed(b, kinds, design, solvedPercent),
		r.bySeed(b, kinds, rival, solvedPercent))
	return c
}

// comparisons are those of every kind, budget and rival, each probability corrected for
// their number.
func (r report) comparisons(kinds []kind) (list []comparison) {
	var ps []float64
	for _, b := range budgets() {
		for _, k := range solvable(kinds) {
			for _, rival := range rivals() {
				c := r.compare(b, k.name, []kind{k}, rival)
				list, ps = append(list, c), append(ps, c.p)
			}
		}
	}
	for i, p := range figures.Holm(ps) {
		list[i].p = p
	}
	return list
}

// lost lists where a rival solves more than the design, beyond chance: a line for each budget and
// plant. Those with one attempt a round come last.
func (r report) lost() string {
	all := r.comparisons(slices.Concat(r.fresh, r.mixes, r.plain))
	var b strings.Builder
	worse, better := 0, 0
	at := ""
	for _, c := range all {
		switch here := c.budget + ", " + c.kind; {
		case c.p >= 0.05:
		case c.mean > 0:
			better++
		default:
			worse++
			if here != at {
				fmt.Fprintf(&b, "\n- %s: ", here)
				at = here
			} else {
				b.WriteString("; ")
			}
			fmt.Fprintf(&b, "%s %.1f ± %.1f", c.rival, -c.mean, c.half)
		}
	}
	return fmt.Sprintf("**Where %s loses**, in points that the rival solves more. Of %d comparisons (paired over %d "+
		"seeds of %d tasks, Holm's correction, 5 %%) it loses %d and wins %d:\n", design, len(all), seeds, tasks, worse,
		better) + b.String() + "\n"
}

// judged says of each hypothesis what came of it.
func (r report) judged() string {
	var b strings.Builder
	b.WriteString("| expected before the first run | what came |\n|---|---|\n")
	say := func(expected, came string) { fmt.Fprintf(&b, "| %s | %s |\n", expected, came) }
	three, one := shipped(), single()
	mixes := slices.Concat(r.fresh, r.mixes)
	all := slices.Concat(mixes, r.plain)
	if len(r.fresh) > 0 {
		say(expectAhead, r.ahead(three, r.fresh))
	}
	if len(r.mixes) > 0 {
		say(expectKnown, r.ahead(three, r.mixes))
	}
	say(expectWide, r.rule(three[1:], all))
	say(expectSmall, r.rule(three[:1], all))
	say(expectSingle, r.rule(one, all))
	var few, shows, hides []kind
	for _, k := range mixes {
		if !strings.HasPrefix(k.about, "classes wrong in 40 %") {
			few = append(few, k)
		}
		if strings.Contains(k.about, "does not show") {
			hides = append(hides, k)
		} else {
			shows = append(shows, k)
		}
	}
	say(expectClasses, r.more(few, noClasses))
	say(expectGradient, fmt.Sprintf("shows: %s; does not: %s", r.more(shows, noGradient), r.more(hides, noGradient)))
	wide := three[1]
	mean, half := figures.Mean(r.bySeed(wide, mixes, design,
		func(e ended) (float64, bool) { return float64(e.rounds), e.doomed }))
	say(expectHopeless, fmt.Sprintf("after %.1f ± %.1f of %d rounds", mean, half, wide.replans+1))
	return b.String()
}

// ahead says by how much the design is ahead of the best rival over some plants, in each budget.
func (r report) ahead(within []budget, kinds []kind) string {
	var list []string
	for _, b := range within {
		least := comparison{mean: math.Inf(1)}
		for _, rival := range rivals() {
			if c := r.compare(b, "", kinds, rival); c.mean < least.mean {
				least = c
			}
		}
		list = append(list, fmt.Sprintf("%s: %+.1f ± %.1f points beside %s, the next", b.name, least.mean, least.half,
			least.rival))
	}
	return strings.Join(list, "; ")
}

// more says how many points the design solves more than a contender, in each budget.
func (r report) more(kinds []kind, contender string) string {
	var list []string
	for _, b := range budgets() {
		c := r.compare(b, "", kinds, contender)
		list = append(list, fmt.Sprintf("%+.1f ± %.1f points within %s", c.mean, c.half, b.name))
	}
	return strings.Join(list, ", ")
}

// rule says whether the rule of the default holds on some plants, within some budgets.
func (r report) rule(within []budget, kinds []kind) string {
	var fails []string
	kinds = solvable(kinds)
	for _, b := range within {
		for _, rival := range []string{"class only", "patient"} {
			if c := r.compare(b, "", kinds, rival); c.mean-c.half <= 0 {
				fails = append(fails, fmt.Sprintf("%s, over all: %+.1f ± %.1f points beside %s", b.name, c.mean, c.half,
					rival))
			}
		}
		for _, k := range kinds {
			worst := comparison{mean: math.Inf(1)}
			for _, rival := range rivals() {
				if c := r.compare(b, k.name, []kind{k}, rival); c.mean < worst.mean {
					worst = c
				}
			}
			if worst.mean < -mostLost {
				fails = append(fails, fmt.Sprintf("%s, %s: %s solves %.1f points more", b.name, k.name, worst.rival,
					-worst.mean))
			}
		}
	}
	if len(fails) == 0 {
		return "the rule holds"
	}
	return "the rule fails: " + strings.Join(fails, "; ")
}

// summary has a row for each contender, over some mixes.
func (r report) summary(b budget, name string, mixes []kind) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s, all %s**\n\n| policy | solved, %% of what can be | "+design+" solves more by | rounds to "+
		"solve | minutes to solve | rounds that could not solve | rounds spent where nothing solves | most that another "+
		"one solves more on a plant |\n|---|--:|--:|--:|--:|--:|--:|--:|\n", b.name, name)
	word := func(contender string, value func(ended) (float64, bool)) string {
		mean, half := figures.Mean(r.bySeed(b, mixes, contender, value))
		if math.IsNaN(mean) {
			return "–"
		}
		return fmt.Sprintf("%.2f ± %.2f", mean, half)
	}
	for _, c := range contenders() {
		mean, half := figures.Mean(r.bySeed(b, mixes, c.name, solvedPercent))
		more := "–"
		if c.name != design {
			d := r.compare(b, "", mixes, c.name)
			more = fmt.Sprintf("%+.1f ± %.1f", d.mean, d.half)
		}
		fmt.Fprintf(&out, "| %s | %.1f ± %.1f | %s | %s | %s | %s | %s | %.1f |\n", c.name, mean, half, more,
			word(c.name, func(e ended) (float64, bool) { return float64(e.rounds), e.solved }),
			word(c.name, func(e ended) (float64, bool) { return float64(e.elapsedMS) / 60_000, e.solved }),
			word(c.name, func(e ended) (float64, bool) { return float64(e.wasted), !e.doomed }),
			word(c.name, func(e ended) (float64, bool) { return float64(e.rounds), e.doomed }), r.behind(b, mixes, c.name))
	}
	return out.String()
}

// behind is how many points more than a contender another one that leaves nothing out solves,
// on the plant where that is most.
func (r report) behind(b budget, kinds []kind, contender string) (most float64) {
	for _, k := range solvable(kinds) {
		ours := r.bySeed(b, []kind{k}, contender, solvedPercent)
		for _, other := range whole() {
			more, _, _ := figures.Paired(r.bySeed(b, []kind{k}, other.name, solvedPercent), ours)
			most = max(most, more)
		}
	}
	return most
}

// table has a row for each kind: what each contender that leaves nothing out solved of it, or, where nothing
// solves it, how many rounds it spent.
func (r report) table(b budget, kinds []kind) string {
	var out strings.Builder
	fmt.Fprintf(&out, "**%s**: solved, %% of what can be\n\n| plant |", b.name)
	for _, c := range whole() {
		fmt.Fprintf(&out, " %s |", c.name)
	}
	out.WriteString("\n|---|" + strings.Repeat("--:|", len(whole())) + "\n")
	for _, k := range kinds {
		name := k.name
		if !k.solvable {
			name += ", rounds"
		}
		fmt.Fprintf(&out, "| %s |", name)
		for _, c := range whole() {
			if !k.solvable {
				mean, _ := figures.Mean(r.bySeed(b, []kind{k}, c.name,
					func(e ended) (float64, bool) { return float64(e.rounds), true }))
				fmt.Fprintf(&out, " %.1f |", mean)
				continue
			}
			mean, half := figures.Mean(r.bySeed(b, []kind{k}, c.name, solvedPercent))
			fmt.Fprintf(&out, " %.0f ± %.0f |", mean, half)
		}
		out.WriteString("\n")
	}
	return out.String()
}
