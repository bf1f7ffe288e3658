package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	"cordelia/schemas"
)

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a verified copy of the database",
		Long: `Write a copy of the database to a new FILE, while agents go on working, and
verify it: its structure, its audit record, and that the agents' keys sealed in
it open with yours.

Your own key file is copied beside it (FILE.human.key) only if it has a
passphrase. Agents' key files are never copied: their keys are in the database,
sealed. The node's key is not copied either; a new machine makes its own.`,
		Example: "  cordelia backup ~/backups/monday.db",
		Args:    wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				done := a.progress("copying and verifying")
				report, err := w.node.Backup(cmd.Context(), w.caller.Principal, w.keyring, words[0])
				done()
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(report)
				}
				f := fields{}
				f.add("backup", report.Path)
				f.add("size", bytesOf(report.Bytes))
				f.add("audit", schemas.Count(int(report.AuditEntries), "entry, intact", "entries, intact"))
				f.add("entities", fmt.Sprint(report.Entities))
				f.add("sealed keys", fmt.Sprintf("%d open", report.KeysOpened))
				f.add("your key", report.HumanKey)
				a.list(f)
				if len(report.Unopened) > 0 {
					a.note("these sealed keys do not open: %s", clean(strings.Join(report.Unopened, ", ")))
				}
				if report.HumanKey == "" {
					a.note("your key is not in the backup, because it has no passphrase; keep a copy of %s yourself",
						w.node.Home.HumanKey())
				}
				return nil
			})
		},
	}
}

func restoreCommand(a *app) *cobra.Command {
	var o node.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database",
		Long: `Put a backup in the place of the database. What is there now is kept beside it
as *.before-restore-TIME. End all other cordelia processes first.

A restore brings back memory, not rights: everyone keeps the status, rights,
memberships, keys and trust they have now; agents that only the backup knows come back
suspended; all tokens end. If there is no database here that can be read, nobody
can say what was revoked since the backup, and --accept-state-of-backup must say
that this is accepted.

The restored home opens with the key of the person the backup is of. On a new machine
give that key file with --key; a key that does not fit is refused before anything is
written. The key file of the agent your clients act as is made from the backup.`,
		Example: `  cordelia restore --dry-run ~/backups/monday.db
  cordelia restore --key human.key --accept-state-of-backup move.db`,
		Args: wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			o.Backup, o.Ask = words[0], a.askPassphrase
			var c node.Config
			adjust(&c)
			o.Clock = c.Clock
			home, err := a.place()
			if err != nil {
				return err
			}
			s, err := config.Read(home)
			if err != nil {
				return config.Unusable(home, err)
			}
			o.CheckpointDirs = s.CheckpointDirs
			done := a.progress("verifying and restoring")
			report, err := node.Restore(cmd.Context(), home, o)
			done()
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(report)
			}
			showRestored(a, report)
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be done")
	cmd.Flags().StringVar(&o.Key, "key", "",
		"your key `file` of the home the backup is of, where this home has none or another")
	cmd.Flags().BoolVar(&o.AcceptBackup, "accept-state-of-backup", false,
		"let everyone have the rights they had then, where the present ones are not known")
	return cmd
}

func showRestored(a *app, r node.RestoreReport) {
	f := fields{}
	f.add("backup", fmt.Sprintf("%s, %s", r.Backup.Path, bytesOf(r.Backup.Bytes)))
	f.add("database", r.Target)
	f.add("kept", r.Kept)
	f.add("present", map[node.Present]string{
		node.CarriedOver: "its rights stay in force", node.Absent: "there was none",
		node.Unreadable: "cannot be read", node.Unrelated: "of another node",
	}[r.Present])
	f.add("audit", fmt.Sprintf("%s in the backup; continues after entry %d",
		schemas.Count(int(r.AuditEntries), "entry", "entries"), r.ForkAt))
	f.add("your key", r.HumanKey)
	f.add("agent's key", r.AgentKey)
	f.add("keys kept", strings.Join(r.KeysKept, ", "))
	f.add("suspended", clean(strings.Join(r.Suspended, ", ")))
	f.add("lost", clean(strings.Join(r.Lost, ", ")))
	a.list(f)
	if len(r.Carried) > 0 {
		a.say("")
		t := table{firm: 1, head: []string{"KEEPS", "WHAT"}}
		for _, c := range r.Carried {
			t.add(texts(clean(c.Name), clean(strings.Join(c.What, ", ")))...)
		}
		a.print(t)
	}
	for _, n := range r.Notes {
		a.note("%s", n)
	}
	if r.DryRun {
		a.note("dry run: nothing was changed")
	}
}

// bytesOf is a size in words.
func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
