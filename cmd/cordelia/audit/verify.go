package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

type verifyFlags struct {
	checkpoints, nodes []string
	db, proof          string
	deep               bool
}

func verifyCommand(a *cli.App) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify the audit record against itself and its checkpoints",
		Long: `Recompute every hash of the audit record and the tree over it, and hold that against
every checkpoint, and every message between the roles of tasks against what the record
says of it. Says where the first entry is that does not fit, and whether it was
changed, deleted, inserted or moved, whether the newest entries are gone, or the
record was made anew. A changed entry may be the one named or the one before it, with
its hash. Exit code 1 if something does not fit.

Needs no running node and no key, changes nothing, and works as another user: name a
copy of the database with --db and the checkpoints with --checkpoint. Whose node it
should be, say with --node: the id that cordelia audit checkpoint prints. A restore is
no tampering; it is listed, and you should recognise it.

With --deep also recompute the hash of every item's words, and look up in the record
every membership, every agent's capabilities and every release in force: what was
written into the database past the node shows. It reads everything: some seconds for each
100 000 items.

With --proof verify what cordelia audit prove printed, without any database; with
--checkpoint also that it continues the newest checkpoint of that file.`,
		Example: "  cordelia audit verify\n  cordelia audit verify --db copy.db --checkpoint /mnt/share\n  cordelia " +
			"audit verify --proof entry-12.json --node ID",
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.proof != "" {
				return verifyProof(a, f)
			}
			return verifyAudit(cmd.Context(), a, f)
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.checkpoints, "checkpoint", nil,
		"file or folder of checkpoints instead of the home's and its copies (repeatable)")
	fl.StringArrayVar(&f.nodes, "node", nil, "id of the node that should have signed (repeatable)")
	fl.StringVar(&f.db, "db", "", "database `file` instead of the home's database")
	fl.BoolVar(&f.deep, "deep", false, "also compare items, memberships, capabilities and releases with what the "+
		"record says of them")
	fl.StringVar(&f.proof, "proof", "", "`file` with a proof to verify, - for stdin")
	return cmd
}

// checkpointsOf reads the checkpoints to verify against: those that are named, else the home's.
func (f verifyFlags) checkpointsOf(home node.Home) ([]events.CheckpointFile, error) {
	if len(f.checkpoints) == 0 {
		folders, err := config.CheckpointFolders(home)
		if err != nil {
			return nil, err
		}
		return node.CheckpointFiles(folders...)
	}
	files, err := checkpointFiles(f.checkpoints...)
	if err == nil && !slices.ContainsFunc(files,
		func(c events.CheckpointFile) bool { return len(c.List)+len(c.Bad) > 0 }) {
		err = schemas.NotFoundf("there is no checkpoint in %s, so entries cut off at the end would not show",
			strings.Join(f.checkpoints, ", ")).
			Try("name another copy, or leave --checkpoint out")
	}
	return files, err
}

func verifyAudit(ctx context.Context, a *cli.App, f verifyFlags) error {
	home, err := a.Place()
	if err != nil {
		return err
	}
	own, address, place := f.db == "", "", events.AnyPlace
	if own {
		if address, err = a.Database(home); err != nil {
			return err
		}
		f.db, place = home.Database(), ""
		if address == "" && !cli.Exists(f.db) {
			return a.NoDatabase(home)
		}
	}
	files, err := f.checkpointsOf(home)
	if err != nil {
		return err
	}
	done := a.Progress("verifying")
	var v events.Verified
	if address != "" {
		v, err = node.VerifyAuditDatabase(ctx, address, files, f.deep)
	} else {
		v, err = node.VerifyAuditFile(ctx, f.db, place, files, f.deep)
	}
	done()
	if err != nil {
		return err
	}
	if own && v.Deep != nil {
		home.NoteDeepVerification(v, time.Now())
	}
	v.Damage = append(v.Damage, f.strangers(v.Nodes)...)
	if a.AsJSON {
		err = a.PrintJSON(v)
	} else {
		showVerified(a, v)
	}
	if err != nil || v.Sound() {
		return err
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the audit record was tampered with: %s", v.Damage[0].What).
		Try("keep this database and the checkpoints as evidence; look at earlier backups: cordelia audit verify " +
			"--db FILE")
}

// strangers finds the nodes that signed checkpoints and that --node does not name.
func (f verifyFlags) strangers(nodes []string) (found []events.Damage) {
	for _, node := range nodes {
		if len(f.nodes) > 0 && !slices.Contains(f.nodes, node) {
			found = append(found, events.Damage{Kind: events.Forged,
				What: "checkpoints were signed by node " + node + ", which --node does not name"})
		}
	}
	return found
}

func showVerified(a *cli.App, v events.Verified) {
	f := cli.Fields{}
	f.Add("entries", fmt.Sprintf("%d fit", v.Entries))
	if v.Erased > 0 {
		f.Add("erased", fmt.Sprintf("details of %d", v.Erased))
	}
	if v.Messages > 0 {
		f.Add("messages", fmt.Sprintf("%d fit", v.Messages))
	}
	if d := v.Deep; d != nil {
		f.Add("in force", fmt.Sprintf("%s, %s, %s and %s are what the record says",
			schemas.Count(int(d.Items), "item", "items"),
			schemas.Count(int(d.Members), "membership", "memberships"), schemas.Count(int(d.Agents), "agent", "agents"),
			schemas.Count(int(d.Releases), "release", "releases")))
		if d.Unproven > 0 {
			f.Add("unproven", fmt.Sprintf("%d: the record, being older or erased, says too little of them", d.Unproven))
		}
	}
	f.Add("root", v.Root)
	held := fmt.Sprintf("%d, %d hold", v.Checkpoints, v.Holding)
	if v.Left > 0 {
		held += fmt.Sprintf(", %d of branches that restores left", v.Left)
	}
	f.Add("checkpoints", held)
	f.Add("covered", fmt.Sprintf("up to entry %d; %d after it are in no checkpoint", v.Covered,
		max(0, v.Entries-v.Covered)))
	f.Add("signed by", strings.Join(v.Nodes, ", "))
	for _, k := range v.Forks {
		f.Add("restore", fmt.Sprintf("entry %d, %s: %s", k.Entry, cli.Clock(k.At), k.Left))
	}
	for _, n := range v.Notes {
		f.Add("note", cli.Clean(n))
	}
	for _, d := range v.Damage {
		f.Styled(string(d.Kind), cli.Clean(d.What), cli.Red)
	}
	a.List(f)
	if !v.Sound() && len(v.Nodes) > 1 {
		a.Note("if one of these nodes is another home's that shares the folder: move its files into a folder of " +
			"its own, and name that in its checkpoint_dirs")
	}
	if v.Checkpoints == 0 {
		a.Note("there is no checkpoint: entries cut off at the end, or a record made anew, would not show")
	}
}

func verifyProof(a *cli.App, f verifyFlags) error {
	raw, err := readFile(a, f.proof)
	if err != nil {
		return err
	}
	p, err := events.CheckProof(raw)
	if err != nil {
		return err
	}
	node := string(p.Checkpoint.Node)
	if len(f.nodes) > 0 && !slices.Contains(f.nodes, node) {
		return schemas.Invalidf("the proof was signed by node %s", node).Expecting("%s",
			strings.Join(f.nodes, " or ")).Try("have it made by the node that you mean")
	}
	for _, path := range f.checkpoints {
		held, err := newestOf(path)
		if err != nil {
			return err
		}
		if held.Text() != p.Checkpoint.Text() && (p.Older == nil || held.Text() != p.Older.Text()) {
			return schemas.Invalidf(
				"the proof does not show that it continues the newest checkpoint of %s, of entry %d", path,
				held.Size()).
				Try("have it made with: cordelia audit prove SEQ --since FILE")
		}
	}
	if a.AsJSON {
		return a.PrintJSON(map[string]any{"seq": p.Seq, "entry": p.Entry, "size": p.Checkpoint.Size(), "node": node,
			"continues": p.Older != nil})
	}
	l := cli.Fields{}
	l.Add("entry", fmt.Sprintf("%d, %s", p.Seq, cli.Clock(p.Entry.Time)))
	l.Add("actor", cli.Clean(string(p.Entry.Actor)))
	l.Add("action", cli.Clean(p.Entry.Action))
	l.Add("target", cli.Clean(p.Entry.Target))
	l.Add("decision", cli.Clean(p.Entry.Decision))
	l.Add("detail", cli.Clean(string(p.Entry.Detail)))
	l.Add("is in", fmt.Sprintf("the checkpoint of %s, of %s",
		cli.Clock(p.Checkpoint.Time().Format("2006-01-02T15:04:05Z")),
		schemas.Count(int(p.Checkpoint.Size()), "entry", "entries")))
	if p.Older != nil {
		l.Add("continues", "the checkpoint of "+schemas.Count(int(p.Older.Size()), "entry", "entries"))
	}
	l.Add("signed by", node)
	a.List(l)
	return nil
}

// readFile reads a bounded file, or stdin.
func readFile(a *cli.App, path string) ([]byte, error) {
	in := a.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, schemas.NotFoundf("%s cannot be read",
				path).Try("name the file that cordelia audit prove was printed to").Because(err)
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	return io.ReadAll(io.LimitReader(in, events.MaxProof+1))
}
