package audit

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

// Command is audit and what is below it.
func Command(a *cli.App) *cobra.Command {
	return cli.Group("audit", "See what was done, and prove that the record of it is whole",
		verifyCommand(a), checkpointCommand(a), proveCommand(a), tailCommand(a),
		reportCommand(a))
}

func checkpointCommand(a *cli.App) *cobra.Command {
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
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				c, err := w.Node.Checkpoint(cmd.Context(), w.Caller.Principal)
				if c.Text == "" {
					return err
				}
				if a.AsJSON {
					if e := a.PrintJSON(c); e != nil {
						return e
					}
					return err
				}
				f := cli.Fields{}
				f.Add("covers", schemas.Count(int(c.Size), "entry", "entries"))
				f.Add("root", c.Root)
				f.Add("node", string(c.Node))
				f.Add("file", c.File)
				for _, copied := range c.Copies {
					f.Add("copy", copied)
				}
				a.List(f)
				if !c.New {
					a.Note("nothing is new since %s, so that checkpoint stands", cli.Clock(c.At))
				}
				return err
			})
		},
	}
}

func proveCommand(a *cli.App) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "prove SEQ",
		Short: "Prove to others that an entry is in the audit record",
		Long: `Print a proof that entry SEQ is in the record that the newest checkpoint was signed
for. It can be checked without the database: cordelia audit verify --proof.
With --since the proof also shows that the record continues the newest checkpoint in
that file.`,
		Example: "  cordelia audit prove 12 >entry-12.json",
		Args:    cli.Wants(1, "SEQ"),
		RunE: func(cmd *cobra.Command, words []string) error {
			seq, err := strconv.ParseInt(words[0], 10, 64)
			if err != nil {
				return schemas.Invalidf("%q is no number of an entry",
					words[0]).Try("cordelia audit tail shows the numbers")
			}
			var older *events.Checkpoint
			if since != "" {
				if older, err = newestOf(since); err != nil {
					return err
				}
			}
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				p, err := w.Node.Prove(cmd.Context(), w.Caller.Principal, seq, older)
				if err != nil {
					return err
				}
				return a.PrintJSON(p)
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

// checkpointFiles reads the checkpoint files in the named files or folders.
func checkpointFiles(paths ...string) ([]events.CheckpointFile, error) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, schemas.NotFoundf("there is no file or folder %s",
				path).Try("name the checkpoints with --checkpoint").Because(err)
		}
	}
	return node.CheckpointFiles(paths...)
}
