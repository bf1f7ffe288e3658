package main

import (
	"context"
	"fmt"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

// agree shows, before the first run in a repository, what it will do, and asks; later it
// asks about a command of the repository's alone, if that is new or was changed.
func (r *taskRun) agree(ctx context.Context) error {
	known, err := r.seats.Knows(ctx, r.repo.Top)
	if err != nil {
		return err
	}
	if known || r.f.yes {
		return agreePrepare(ctx, r.Acting.App, r.equipment, r.f.yes)
	}
	fmt.Fprintf(r.ErrOut, "The first run in %s:\n  %s\n  sandbox  %s\n  limits   %s\n", cli.Clean(r.repo.Top),
		strings.Join(seatWords(r.seating), "\n  "), r.shielded, r.f.limits())
	if r.project.Prepare != "" {
		fmt.Fprintf(r.ErrOut, "  prepare  %s\n", cli.Clean(r.project.Prepare))
	}
	if cli.Columns(r.In) == 0 {
		return schemas.Invalidf("there is no terminal to ask at whether that is wanted").Try("say so with --yes")
	}
	if !confirmed(ctx, r.Acting.App, "Go on? [y/N] ") {
		return exitUnfinished
	}
	return agreePrepare(ctx, r.Acting.App, r.equipment, true)
}

// agreePrepare asks before a command runs that the repository names and the user has not
// agreed to; agreed says that they have just done so.
func agreePrepare(ctx context.Context, a *cli.App, e equipment, agreed bool) error {
	if !e.asks {
		return nil
	}
	if !agreed {
		fmt.Fprintf(a.ErrOut, "The repository has a command run in each fresh worktree that you did not agree to:\n"+
			"  prepare  %s\n", cli.Clean(e.project.Prepare))
		if cli.Columns(a.In) == 0 {
			return schemas.Invalidf("there is no terminal to ask at whether %q may run", e.project.Prepare).
				Expecting("your word, once for each command that .cordelia.json names").
				Try("agree to it: the same command with --yes; or name a command of your own with --prepare")
		}
		if !confirmed(ctx, a, "Run it? [y/N] ") {
			return exitUnfinished
		}
	}
	return e.agreed.Keep(e.repo, e.project)
}
