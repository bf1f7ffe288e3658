package main

import (
	"regexp"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/node"
	"cordelia/schemas"
)

// toFile is the value of --to for the way back.
const toFile = "file"

// serverAddress matches how an address of a PostgreSQL database begins.
var serverAddress = regexp.MustCompile(`^(postgres(ql)?://|\s*[a-z_]+\s*=)`)

func migrateCommand(a *cli.App) *cobra.Command {
	var o node.MoveOptions
	var to string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the state into a PostgreSQL database, or back into a file",
		Long: `Move the whole state from the file in the home folder into an empty PostgreSQL
database (--to ADDRESS), or from the database that is in use back into a file of this
home (--to file). End all other cordelia processes first, on all machines.

All rows are copied in one transaction or none. Of each table the number of rows and a
hash over them are compared, and the audit record is verified. Then the old database is
closed for use, as what is revoked from then on would still hold in it: the file is
renamed to *.moved-TIME, a PostgreSQL database refuses each node. If the command is
killed, run it again.`,
		Example: "  cordelia migrate --to postgres://ann@db.example/cordelia --dry-run\n  cordelia migrate --to file",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := a.AbsoluteHome()
			if err != nil {
				return err
			}
			if err := between(a, home, to, &o); err != nil {
				return err
			}
			s, err := config.Read(home)
			if err != nil {
				return config.Unusable(home, err)
			}
			o.Ask, o.CheckpointDirs = a.AskPassphrase, s.CheckpointDirs
			var c node.Config
			cli.Adjust(&c)
			o.Clock = c.Clock
			done := a.Progress("copying and comparing")
			report, err := node.Move(cmd.Context(), home, o)
			done()
			if err != nil {
				return err
			}
			if a.AsJSON {
				return a.PrintJSON(report)
			}
			showMoved(a, report, to)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "address of an empty PostgreSQL database, or: file")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would be done")
	return cmd
}

// between finds the two databases of a move.
func between(a *cli.App, home node.Home, to string, o *node.MoveOptions) error {
	present, err := a.Database(home)
	if err != nil {
		return err
	}
	switch {
	case to == "":
		return schemas.Invalidf("--to is missing").Expecting("the address of an empty PostgreSQL database, or file").
			Try("cordelia migrate --to postgres://user@host:5432/database --dry-run")
	case home.Fresh():
		return a.NoHome()
	case to == toFile && present == "":
		return schemas.Conflictf("the state is in a file already: %s", home.Database()).
			Try("to move it from a database, name that in CORDELIA_DB or the setting database")
	case to == toFile:
		o.From = present
		return nil
	case !serverAddress.MatchString(to):
		// It is not shown: mistyped, it may hold a password that is not found.
		return schemas.Invalidf("--to is no address of a PostgreSQL database").
			Expecting("postgres://user@host:5432/database, or file")
	case !cli.Exists(home.Database()) && present != "":
		return schemas.Conflictf("the state is in a PostgreSQL database already").
			Try("from one server to another: pg_dump and pg_restore; or by way of a file: cordelia migrate --to file")
	case !cli.Exists(home.Database()):
		return cli.Gone(home)
	}
	o.To = to
	return config.WithoutPassword(to, "the address on the command line")
}

func showMoved(a *cli.App, r node.MoveReport, to string) {
	f := cli.Fields{}
	f.Add("from", r.From)
	f.Add("to", r.To)
	if len(r.Tables) > 0 {
		f.Add("rows", schemas.Count(int(r.Rows()), "row", "rows")+" in "+
			schemas.Count(len(r.Tables), "table", "tables")+", the same in both")
	}
	f.Add("audit", schemas.Count(int(r.AuditEntries), "entry, intact", "entries, intact"))
	f.Add("kept", r.Kept)
	a.List(f)
	switch {
	case r.DryRun && r.Already:
		a.Note("dry run: all is copied already; the move would only close the old database for use")
	case r.DryRun:
		a.Note("dry run: nothing was changed; end all other processes of cordelia before the move")
	case to == toFile:
		a.Note("next: cordelia config set database ''; the PostgreSQL database refuses nodes from now on")
	default:
		a.Note("next: cordelia config set database %s, then start your clients; further homes: docs/scale.md",
			cli.Quoted(to))
	}
}
