package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
	runner "cordelia/run"
	"cordelia/run/cost"
	"cordelia/schemas"
)

// keepReports is how long reports stay in the cache folder.
const keepReports = 30 * 24 * time.Hour

// dropOldReports removes reports that have been kept long enough.
func dropOldReports(folder string, now time.Time) {
	all, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return
	}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > keepReports {
			os.Remove(path) //nolint:errcheck // the next run tries again
		}
	}
}

// keepReport writes the report of a run: where the user wants it, else into the cache
// folder, where it is kept for a time.
func (r *taskRun) keepReport(ctx context.Context, v *taskBoard, end runEnd, seats []runner.SeatState) (string, error) {
	path := r.f.report
	if path == "" {
		runs, err := runsFolder()
		if err != nil {
			return "", err
		}
		path = filepath.Join(filepath.Dir(runs), "reports", schemas.ShortID(end.TaskID)+".md")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		dropOldReports(filepath.Dir(path), time.Now())
	}
	stat := ""
	if end.Base != end.Tip {
		var err error
		if stat, err = r.repo.Stat(ctx, end.Base, end.Tip); err != nil {
			return "", err
		}
	}
	return path, os.WriteFile(path, []byte(reportText(v, end, seats, stat)), 0o600)
}

// reportable refuses a report that could not be written at the end, before anything is paid.
func reportable(path string) error {
	if path == "" {
		return nil
	}
	_, err := os.Lstat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err == nil && fresh {
		err = os.Remove(path)
	}
	if err != nil {
		return schemas.Invalidf("the report cannot be written: %v", err).Expecting("a file in a folder that is there").
			Try("make the folder, or name another file by --report")
	}
	return nil
}

// reportText is a run in Markdown: how it ended, the criteria with their evidence, the
// rounds, what changed, and what each seat took, in this run and those before it.
func reportText(v *taskBoard, end runEnd, seats []runner.SeatState, stat string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# %s\n", markdown(v.Intent))
	if v.RawInput != "" {
		say("- asked for: %s", markdown(v.RawInput))
	}
	say("- **%s**, task `%s`, branch `%s`, from `%.12s` to `%.12s`", end.State, end.TaskID, end.Branch, end.Base,
		end.Tip)
	if len(seats) > 0 {
		last := slices.MaxFunc(seats, func(a, b runner.SeatState) int { return a.Ended.Compare(b.Ended) })
		say("- begun %s, last worked on %s; spent %s", cli.Zoned(seats[0].Began), cli.Zoned(last.Ended), end.spent())
	}
	for _, one := range [][2]string{{"stopped", end.Why}, {"applied", end.Applied}, {"not applied", end.Refused}} {
		if one[1] != "" {
			say("- %s: %s", one[0], markdown(one[1]))
		}
	}
	if v.result != nil && v.result.Reason != "" {
		say("- %s", markdown(v.result.Reason))
	}
	b.WriteString(reportCriteria(v))
	if len(v.Rounds) > 0 {
		say("\n## Rounds that failed\n\n| round | D | P | Ω | loss | then | why |\n|--:|--:|--:|--:|--:|---|---|")
		for _, one := range v.Rounds {
			say("| %d | %.2f | %.2f | %.2f | %.3f | %s | %s |", one.Round, one.D, one.P, one.Omega, one.L,
				strings.ReplaceAll(markdown(one.Directive), "_", " "), markdown(one.Rationale))
		}
	}
	if stat != "" {
		say("\n## What changed\n\n```\n%s\n```", strings.ReplaceAll(cli.Block(strings.TrimRight(stat, "\n")), "```",
			"'''"))
	}
	if len(seats) > 0 {
		say("\n## Seats\n\n| role | agent | client | calls | tokens | cost | time | for | ended |\n" +
			"|---|---|---|--:|--:|--:|--:|---|---|")
	}
	for _, s := range seats {
		say("| %s | %s | %s | %d | %d | %s | %s | %s | %s |", s.Role, markdown(s.Agent), markdown(s.Client), s.Calls,
			tokensOf(s.Usage), cost.Money(s.Usage.Cost), took(s, time.Now()), markdown(s.About), markdown(nowWord(s)))
	}
	say("\n## Next\n")
	for _, next := range end.Next {
		say("- %s", next)
	}
	return b.String()
}

// reportCriteria are the criteria with their verdicts and, of subtasks, the evidence.
func reportCriteria(v *taskBoard) string {
	var b strings.Builder
	b.WriteString("\n## Criteria\n\n| of | verdict | criterion | evidence |\n|---|---|---|---|\n")
	judgedAt := map[string]bool{}
	for _, o := range v.outcomes {
		judgedAt[o.SubTaskID] = true
		for _, c := range o.CriteriaVerdicts {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", markdown(v.subtask(o.SubTaskID)), c.Verdict,
				markdown(c.Criterion),
				markdown(schemas.Shorten(c.Evidence, 500)))
		}
	}
	row := func(of, one string) {
		verdict, text := judged(one)
		fmt.Fprintf(&b, "| %s | %s | %s | |\n", markdown(of), markdown(verdict), markdown(text))
	}
	for _, s := range v.SubTasks {
		for _, one := range s.Criteria {
			if !judgedAt[s.SubTaskID] {
				row(s.Intent, one)
			}
		}
	}
	for _, one := range v.Criteria {
		row("the whole", one)
	}
	return b.String()
}

// markdown makes a text one line that says in a table what it says.
func markdown[S ~string](s S) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "`", "'", "\\", "\\\\").Replace(cli.Clean(s))
}
