package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"cordelia/internal/proof/figures"
)

// report is the trials as tables.
type report map[cell][]verdict

// rival names a gate by overall score; checked ones count a machine check as 1 or 0.
func rival(threshold float64, checked bool) string {
	name := fmt.Sprintf("score ≥ %.2f", threshold)
	if checked {
		name += ", with checks"
	}
	return name
}

func rivals() (list []string) {
	for _, checked := range []bool{false, true} {
		for _, threshold := range thresholds() {
			list = append(list, rival(threshold, checked))
		}
	}
	return list
}

// publish prints the tables and writes them into docs/gate.md.
func (r report) publish(docs string) error {
	text := aboutTable() + "\n" + r.faultTable() + "\n" + r.rejectTable() + "\n" + r.bar() + "\n\n"
	fmt.Print(text)
	return figures.Write(filepath.Join(docs, "gate.md"), text)
}

// aboutTable says what the faults are.
func aboutTable() string {
	var out strings.Builder
	out.WriteString("| fault | |\n|---|---|\n")
	for _, f := range faults() {
		fmt.Fprintf(&out, "| %s | %s |\n", f.name, f.about)
	}
	return out.String()
}

// faultTable says for each fault and share what each gate let through that it should
// not have.
func (r report) faultTable() string {
	var out strings.Builder
	fmt.Fprintf(&out, "**False accepts**, %% (95 %% interval)\n\n| fault | checked | this gate | left to a person | "+
		"of it, unmet criteria with a check | %s |\n|---|--:|--:|--:|--:|%s\n",
		strings.Join(rivals(), " | "), strings.Repeat("--:|", len(rivals())))
	for _, f := range faults() {
		if f.unmet == 0 && !f.whole {
			continue
		}
		for _, checked := range shares() {
			runs := r[cell{f.name, checked}]
			if len(runs) == 0 {
				continue
			}
			fmt.Fprintf(&out, "| %s | %d of %d | %s | %s | %s |", f.name, checked, criteria, percent(runs, accepted),
				percent(runs, left), machineCell(runs))
			for _, name := range rivals() {
				fmt.Fprintf(&out, " %s |", percent(runs, func(v verdict) bool { return v.holistic[name] }))
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// rejectTable says what each gate turned away where nothing was wrong.
func (r report) rejectTable() string {
	var out strings.Builder
	fmt.Fprintf(&out, "**False rejects** where nothing is wrong, %% (95 %% interval)\n\n| checked | this gate | %s "+
		"|\n|--:|--:|%s\n",
		strings.Join(rivals(), " | "), strings.Repeat("--:|", len(rivals())))
	for _, checked := range shares() {
		runs := r[cell{faults()[0].name, checked}]
		fmt.Fprintf(&out, "| %d of %d | %s |", checked, criteria,
			percent(runs, func(v verdict) bool { return !v.ours }))
		for _, name := range rivals() {
			fmt.Fprintf(&out, " %s |", percent(runs, func(v verdict) bool { return !v.holistic[name] }))
		}
		out.WriteString("\n")
	}
	return out.String()
}

// missed counts trials in which an unmet criterion with a machine check was let
// through, of those where there is one.
func missed(runs []verdict) (n, of int) {
	for _, v := range runs {
		if v.machine {
			of++
			if v.ours {
				n++
			}
		}
	}
	return n, of
}

func machineCell(runs []verdict) string {
	n, of := missed(runs)
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// bar says whether nothing unmet that a machine can check came through.
func (r report) bar() string {
	n, of := 0, 0
	for _, f := range faults() {
		for _, checked := range shares() {
			bad, all := missed(r[cell{f.name, checked}])
			n, of = n+bad, of+all
		}
	}
	return fmt.Sprintf("**Unmet criteria with a machine check that came through: %d of %d trials** (bar: 0).", n, of)
}

func accepted(v verdict) bool { return v.ours }

func left(v verdict) bool { return v.held }

// percent is the share of runs for which yes holds, with its interval (Wilson 1927).
func percent(runs []verdict, yes func(verdict) bool) string {
	n := 0.0
	for _, v := range runs {
		if yes(v) {
			n++
		}
	}
	const z = 1.96
	total := float64(len(runs))
	share := n / total
	middle := (share + z*z/(2*total)) / (1 + z*z/total)
	half := z * math.Sqrt(share*(1-share)/total+z*z/(4*total*total)) / (1 + z*z/total)
	return fmt.Sprintf("%.0f (%.0f–%.0f)", 100*share, 100*(middle-half), 100*(middle+half))
}
