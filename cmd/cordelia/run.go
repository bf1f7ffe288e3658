package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

const (
	exitUnfinished cli.Exit = 8 // run, worker: it stopped before its end
)

// runFlags are the flags of run.
type runFlags struct {
	resume    string
	discard   string
	list      bool
	clean     bool
	planOnly  bool
	apply     bool
	include   bool
	report    string
	parallel  int
	model     []string
	client    []string
	seat      []string
	sandbox   string
	prepare   string
	read      []string
	ports     []int
	patience  time.Duration
	maxTime   time.Duration
	maxCost   float64
	maxTokens int64
	yes       bool
}

func runCommand(a *cli.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run WORDS…",
		Short: "Have your coding client plan, do and judge a task in this git repository",
		Long: `Say what you want in the git repository you are in. Your own coding client (Claude
Code, with the login it has) fills the roles of the pipeline: it carries your words
over, plans, works in git worktrees of its own, and judges. Each role is an agent of its own
with no more rights than it needs; a worker reaches no key and no database. Tool calls
are recorded as they happen, and what the record does not show counts as not done.

What is accepted lies on the branch cordelia/TASK. Your branch, your index and your
working tree are not touched, but for --apply: that merges what was accepted, if no
conflict and no uncommitted change is in the way. Ctrl-C gives the roles back, a second
one ends at once; --resume goes on.

At a terminal it draws what each role does; cordelia task watch TASK shows the same from
another one. Elsewhere it prints lines, with --json an event a line.

Exit codes: 0 accepted, or planned with --plan-only, 5 accepted and not applied,
6 abandoned, 7 cancelled, 8 stopped before its end, 130 interrupted.`,
		Example: `  cordelia run "rows without a date are kept; the tests pass"
  cordelia run --plan-only "the importer streams"
  cordelia run --resume 0198c0de --apply`,
		Args: cli.Wants(cli.MaxWords),
		RunE: func(cmd *cobra.Command, words []string) error {
			return runTask(cmd.Context(), a, f, strings.Join(words, " "))
		},
	}
	f.define(cmd.Flags())
	return cmd
}

// define makes the flags.
func (f *runFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&f.resume, "resume", "", "go on with this task")
	fs.BoolVar(&f.list, "list", false, "list the tasks of this repository")
	fs.BoolVar(&f.clean, "clean", false, "remove the worktrees that killed runs left, now instead of after 7 days")
	fs.StringVar(&f.discard, "discard", "", "throw a task of this repository away: cancel it and delete its branch")
	fs.BoolVar(&f.planOnly, "plan-only", false, "stop once there is a plan, and show it")
	fs.BoolVar(&f.apply, "apply", false, "merge what was accepted into the branch you are on, if nothing is in the way")
	fs.BoolVar(&f.include, "include-changes", false,
		"begin from your uncommitted changes, too: a commit on the task's branch")
	fs.StringVar(&f.report, "report", "", "write the report in Markdown into this file instead")
	f.fillers(fs, 2)
}

// fillers makes the flags that say who fills seats, and what they may reach and take.
func (f *runFlags) fillers(fs *pflag.FlagSet, parallel int) {
	fs.IntVar(&f.parallel, "parallel", parallel, "roles filled at once")
	fs.StringSliceVar(&f.model, "model", nil, "model for all roles, or for one: R3=NAME")
	fs.StringSliceVar(&f.client, "client", nil,
		"who fills the roles, the first that can be used: claude-code, codex, gemini-cli or an API of config.json")
	fs.StringSliceVar(&f.seat, "seat", nil, "who fills one role: R3=codex; again for who comes next")
	fs.StringVar(&f.sandbox, "sandbox", "auto",
		"auto: confine workers, or refuse to run; none: workers reach what you can")
	fs.BoolVarP(&f.yes, "yes", "y", false,
		"do not ask before the first run in a repository, nor about a command of its .cordelia.json")
	fs.StringVar(&f.prepare, "prepare", "",
		"command that installs dependencies in each fresh worktree: \"npm ci\"")
	fs.StringSliceVar(&f.read, "read", nil,
		"file or folder that confined workers may read, such as a cache of dependencies")
	fs.IntSliceVar(&f.ports, "port", nil, "TCP port that confined workers may connect to, beside 443 and the client's")
	fs.DurationVar(&f.patience, "patience", 20*time.Minute, "how long a client may say nothing before its role fails")
	fs.DurationVar(&f.maxTime, "max-time", 0, "stop after this time, such as 30m")
	fs.Float64Var(&f.maxCost, "max-cost", 0, "begin nothing more once this many US dollars are spent")
	fs.Int64Var(&f.maxTokens, "max-tokens", 0, "begin nothing more once this many tokens are used")
}

// one refuses flags that do not go together.
func (f runFlags) one(words string) error {
	given := 0
	for _, yes := range []bool{words != "", f.resume != "", f.discard != "", f.list, f.clean} {
		if yes {
			given++
		}
	}
	switch {
	case given != 1:
		return schemas.Invalidf("it is not clear what to run").
			Expecting("words that say what you want, or --resume or --discard with a task, or --list, or --clean").
			Try(`run: cordelia run "what you want"`)
	case f.apply && f.include:
		return schemas.Invalidf("--apply and --include-changes do not go together").
			Expecting("a branch without your uncommitted changes, to be merged into a folder that has them not").
			Try("commit your changes first, then run it with --apply alone")
	case f.include && f.resume != "":
		return schemas.Invalidf("--include-changes comes too late").Expecting("a task that begins now").
			Try("throw the task away and begin it anew: cordelia run --discard %s", f.resume)
	}
	return nil
}

// bounds refuses numbers that bound nothing.
func (f runFlags) bounds() error {
	switch {
	case f.parallel < 1 || f.parallel > 64:
		return schemas.Invalidf("--parallel %d is out of range", f.parallel).Expecting("1 to 64")
	case f.maxCost < 0 || f.maxTokens < 0 || f.maxTime < 0:
		return schemas.Invalidf("--max-cost, --max-tokens and --max-time are not below 0").
			Expecting("a bound above 0, or 0 for none")
	case f.patience <= 0:
		return schemas.Invalidf("--patience %s is no time", f.patience).Expecting("a time above 0, such as 20m")
	}
	return nil
}

func (f runFlags) limits() string {
	var list []string
	if f.maxCost > 0 {
		list = append(list, fmt.Sprintf("$%.2f", f.maxCost))
	}
	if f.maxTokens > 0 {
		list = append(list, fmt.Sprintf("%d tokens", f.maxTokens))
	}
	if f.maxTime > 0 {
		list = append(list, f.maxTime.String())
	}
	if list == nil {
		return "none (--max-cost, --max-tokens, --max-time)"
	}
	return strings.Join(list, ", ")
}
