package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	"cordelia/schemas"
)

func backupCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a verified copy of the database",
		Long: `Write a copy of the database to a new FILE, while agents go on working, and
verify it: its structure, its audit record, and that the agents' keys sealed in
it open with yours. Of a PostgreSQL database the copy is such a file, too.

Your own key file is copied beside it (FILE.human.key) only if it has a
passphrase. Agents' key files are never copied: their keys are in the database,
sealed. The node's key is not copied either; a new machine makes its own.`,
		Example: "  cordelia backup ~/backups/monday.db",
		Args:    cli.Wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				done := a.Progress("copying and verifying")
				report, err := w.Node.Backup(cmd.Context(), w.Caller.Principal, w.Keyring, words[0])
				done()
				if err != nil {
					return err
				}
				if a.AsJSON {
					return a.PrintJSON(report)
				}
				f := cli.Fields{}
				f.Add("backup", report.Path)
				f.Add("size", bytesOf(report.Bytes))
				f.Add("audit", schemas.Count(int(report.AuditEntries), "entry, intact", "entries, intact"))
				f.Add("entities", fmt.Sprint(report.Entities))
				f.Add("sealed keys", fmt.Sprintf("%d open", report.KeysOpened))
				f.Add("your key", report.HumanKey)
				a.List(f)
				if len(report.Unopened) > 0 {
					a.Note("these sealed keys do not open: %s; as long as the agent's key file is on this machine, "+
						"cordelia key rotate NAME seals a new one", cli.Clean(strings.Join(report.Unopened, ", ")))
				}
				if report.HumanKey == "" {
					a.Note("your key is not in the backup, because it has no passphrase; keep a copy of %s yourself",
						w.Node.Home.HumanKey())
				}
				return nil
			})
		},
	}
}

func restoreCommand(a *cli.App) *cobra.Command {
	var o node.RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database",
		Long: `Put a backup in the place of the database. What is there now is kept beside it
as *.before-restore-TIME, in PostgreSQL as the schema before_restore_TIME. End all other
cordelia processes first.

A restore brings back memory, not rights: each agent keeps the status, rights,
memberships, keys and trust it has now; agents that only the backup knows come back
suspended; a role keeps the state, charter and workspace it has now; all tokens
end. If there is no database here that can be read, what
was revoked since the backup is unknown, and --accept-state-of-backup must say
that you accept this.

The restored home opens with the key of the person the backup is of. On a new machine
give that key file with --key; a key that does not fit is refused before anything is
written. The key file of the agent your clients act as is made from the backup.

A restore over a database whose person has another key opens that key, too: the one in
this home. If both have a passphrase, --passphrase-fd gives a line for each: first that
of --key, then that of this home.`,
		Example: `  cordelia restore --dry-run ~/backups/monday.db
  cordelia restore --key human.key --accept-state-of-backup move.db`,
		Args: cli.Wants(1, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) error {
			o.Backup = words[0]
			return restore(cmd.Context(), a, o)
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be done")
	cmd.Flags().StringVar(&o.Key, "key", "",
		"your key `file` of the home the backup is of, where this home has none or another")
	cmd.Flags().BoolVar(&o.AcceptBackup, "accept-state-of-backup", false,
		"give each agent the rights it had then, where the present ones are not known")
	return cmd
}

// restore restores a backup into the home, and shows what was done.
func restore(ctx context.Context, a *cli.App, o node.RestoreOptions) error {
	var c node.Config
	cli.Adjust(&c)
	o.Ask, o.Clock = func(file string) ([]byte, error) { return askOneOfTwo(a, file) }, c.Clock
	home, err := a.Place()
	if err != nil {
		return err
	}
	if o.Database, err = a.Database(home); err != nil {
		return err
	}
	s, err := config.Read(home)
	if err != nil {
		return config.Unusable(home, err)
	}
	o.CheckpointDirs = s.CheckpointDirs
	done := a.Progress("verifying and restoring")
	report, err := node.Restore(ctx, home, o)
	done()
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(report)
	}
	showRestored(a, report)
	return nil
}

// askOneOfTwo reads the passphrase of a key file that a restore opens. It may open two.
func askOneOfTwo(a *cli.App, file string) ([]byte, error) {
	passphrase, err := a.AskPassphraseOf(file)
	if errors.Is(err, cli.ErrNoPassphrase) {
		return nil, schemas.Errorf(schemas.CodeUnauthenticated, "no passphrase was given for %s", file).
			Expecting("a line for each key that has a passphrase: first that of --key, then that of this home").
			Try("repeat the command with these lines").Because(err)
	}
	return passphrase, err
}

func showRestored(a *cli.App, r node.RestoreReport) {
	f := cli.Fields{}
	f.Add("backup", fmt.Sprintf("%s, %s", r.Backup.Path, bytesOf(r.Backup.Bytes)))
	f.Add("database", r.Target)
	kept, key, keysKept := "kept", "your key", "keys kept"
	if r.DryRun {
		kept, key, keysKept = "would keep it as", "would put your key", "would keep keys as"
	}
	f.Add(kept, r.Kept)
	f.Add("present", map[node.Present]string{
		node.CarriedOver: "its rights stay in force", node.Absent: "there was none",
		node.Unreadable: "cannot be read", node.Unrelated: "of another node",
	}[r.Present])
	f.Add("audit", fmt.Sprintf("%s in the backup; continues after entry %d",
		schemas.Count(int(r.AuditEntries), "entry", "entries"), r.ForkAt))
	f.Add(key, r.HumanKey)
	f.Add("agent's key", r.AgentKey)
	f.Add(keysKept, strings.Join(r.KeysKept, ", "))
	f.Add("suspended", cli.Clean(strings.Join(r.Suspended, ", ")))
	var suspended []string
	for _, one := range r.SuspendedRoles {
		suspended = append(suspended, one.Role+" of "+one.Workspace)
	}
	f.Add("roles suspended", cli.Clean(strings.Join(suspended, "; ")))
	if r.Withdrawn > 0 {
		f.Add("withdrawn", schemas.Count(r.Withdrawn, "open question of roles", "open questions of roles"))
	}
	f.Add("lost", cli.Clean(strings.Join(r.Lost, ", ")))
	a.List(f)
	if len(r.Carried) > 0 {
		a.Say("")
		t := cli.Table{Firm: 1, Head: []string{"KEEPS", "WHAT"}}
		for _, c := range r.Carried {
			t.Add(cli.Texts(cli.Clean(c.Name), cli.Clean(strings.Join(c.What, ", ")))...)
		}
		a.Print(t)
	}
	for _, n := range r.Notes {
		a.Note("%s", n)
	}
	if len(r.SuspendedRoles) > 0 {
		a.Note("roles that only the backup knows are suspended: apply the file of today, cordelia role apply FILE; " +
			"cordelia role list says why each is")
	}
	for _, source := range r.NoSecret {
		a.Note("the webhook %s has no secret here: put %s from the old machine beside config.json, or have role apply "+
			"make a new one", cli.Clean(source), filepath.Join("hooks", source+".secret"))
	}
	if r.DryRun {
		a.Note("dry run: nothing was changed")
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
