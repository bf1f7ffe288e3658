package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cordelia/events"
	"cordelia/ops"
	"cordelia/schemas"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "See what was done, and prove that the record of it is whole",
		a.auditVerifyCommand(), a.auditCheckpointCommand(), a.auditProveCommand(), a.auditTailCommand(), a.auditReportCommand())
}

func (a *app) auditCheckpointCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint",
		Short: "Sign what the audit record is now",
		Long: `Sign how many entries the audit record has and the root of the tree over them, and
append that to a file in the checkpoints folder of the home and of every folder
that checkpoint_dirs in config.json names. Processes do so by themselves, every 256
entries and, if there are new ones, every 10 minutes.

A checkpoint is worth what the place is worth where it is kept: who can change the
database and every checkpoint, and has the node's key, can make the record anew.`,
		Example: "  cordelia audit checkpoint",
		Args:    wants(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				c, err := w.node.Checkpoint(cmd.Context(), w.caller)
				if c.Text == "" {
					return err
				}
				if a.asJSON {
					if e := a.printJSON(c); e != nil {
						return e
					}
					return err
				}
				f := fields{}
				f.add("covers", fmt.Sprintf("%d entries", c.Size))
				f.add("root", c.Root)
				f.add("node", string(c.Node))
				f.add("file", c.File)
				for _, copied := range c.Copies {
					f.add("copy", copied)
				}
				a.list(f)
				if !c.New {
					a.note("nothing is new since %s, so that checkpoint stands", clock(c.At))
				}
				return err
			})
		},
	}
}

func (a *app) auditProveCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "prove SEQ",
		Short: "Prove to others that an entry is in the audit record",
		Long: `Print a proof that entry SEQ is in the record that the newest checkpoint was signed
for. Whoever has it checks it without the database: cordelia audit verify --proof.
With --since the proof also shows that the record continues the newest checkpoint in
that file.`,
		Example: "  cordelia audit prove 12 >entry-12.json",
		Args:    wants(1, 1),
		RunE: func(cmd *cobra.Command, words []string) error {
			seq, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil {
				return schemas.Invalidf("%q is no number of an entry", words[0]).Try("cordelia audit tail shows the numbers")
			}
			var older *events.Checkpoint
			if since != "" {
				if older, err = newestOf(since); err != nil {
					return err
				}
			}
			return a.person(cmd.Context(), func(w *acting) error {
				p, err := w.node.Prove(cmd.Context(), w.caller, seq, older)
				if err != nil {
					return err
				}
				return a.printJSON(p)
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "`file` of checkpoints whose newest the record continues")
	return cmd
}

// newestOf gives the last checkpoint in a file.
func newestOf(path string) (*events.Checkpoint, error) {
	files, err := checkpointFiles(path)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if n := len(f.List); n > 0 {
			return &f.List[n-1], nil
		}
	}
	return nil, schemas.Invalidf("%s holds no checkpoint", path).Try("name a file that cordelia audit checkpoint wrote")
}

// checkpointFiles reads the files or folders that somebody named.
func checkpointFiles(paths ...string) ([]events.CheckpointFile, error) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, schemas.NotFoundf("there is no file or folder %s", path).Try("name the checkpoints with --checkpoint").Because(err)
		}
	}
	return ops.CheckpointFiles(paths...)
}

func (a *app) auditReportCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Sum up who did what, and what you should know of",
		Long: `Sum the audit record up: who did how much of what, what was refused, who lost
rights, whose key changed, restores, reports that came too late, clocks that went
back, and who both did and judged work of one task. For the person alone.`,
		Example: "  cordelia audit report --since 168h",
		Args:    wants(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := parseSince(since)
			if err != nil {
				return err
			}
			return a.person(cmd.Context(), func(w *acting) error {
				r, err := w.node.AuditReport(cmd.Context(), w.caller, from)
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(r)
				}
				a.showAuditReport(r)
				return nil
			})
		},
	}
	sinceFlag(cmd, &since, "720h")
	return cmd
}

func sinceFlag(cmd *cobra.Command, since *string, otherwise string) {
	cmd.Flags().StringVar(since, "since", otherwise, "only entries from then on: a duration as 24h, a day as 2026-01-31, or a time as 2026-01-31T12:00:00Z")
}

// parseSince reads a moment, in µs UTC; "" is the beginning.
func parseSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d).UnixMicro(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t.UnixMicro(), nil
		}
	}
	return 0, schemas.Invalidf("%q is no time", text).Expecting("a duration as 24h, a day as 2026-01-31, or a time as 2026-01-31T12:00:00Z").Try("correct --since")
}

func (a *app) showAuditReport(r ops.AuditSummary) {
	f := fields{}
	f.add("from", clock(r.From))
	f.add("until", clock(r.Until))
	f.add("entries", fmt.Sprintf("%d, %d of them refused", r.Events, r.Refused))
	a.list(f)
	for _, part := range []struct {
		head string
		list []ops.Tally
	}{{"WHO", r.Actors}, {"WHAT", r.Actions}} {
		if len(part.list) == 0 {
			continue
		}
		a.say("")
		t := table{head: []string{part.head, "ENTRIES"}}
		for _, c := range part.list {
			name := c.As
			if name == "" {
				name = c.Name
			}
			t.add(texts(clean(name), strconv.Itoa(c.N))...)
		}
		a.print(t)
	}
	if len(r.Notable) > 0 {
		a.say("")
		t := table{firm: 1, head: []string{"ENTRY", "TIME", "WHO", "NOTABLE"}}
		for _, e := range r.Notable {
			t.add(texts(strconv.FormatInt(e.Seq, 10), clock(e.Time), short(e.Actor), clean(e.What))...)
		}
		a.print(t)
	}
	if len(r.Findings) > 0 {
		a.say("")
		t := table{head: []string{"FINDING", "TASK", "WHAT"}}
		for _, x := range r.Findings {
			t.add(texts(string(x.Detection), clean(x.TaskID+x.SubTaskID), clean(x.Finding))...)
		}
		a.print(t)
	}
	if r.Unshown > 0 {
		a.note("%d more are notable; ask for a shorter time with --since", r.Unshown)
	}
}
