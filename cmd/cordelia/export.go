package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory"
	"cordelia/memory/archive"
	"cordelia/ops"
	"cordelia/schemas"
)

func exportCommand(a *cli.App) *cobra.Command {
	var as, format, group string
	var agents bool
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write what you own, or with --group what a group holds, to a file or stdout (-)",
		Long: `Write everything you or an agent (--as) own: the context, the groups and the
items with their versions and provenance. What your agents wrote for themselves is
theirs: with --agents all of it is written, too, also of those that have ended, one
file each, in the new folder FILE. --group writes all that a group holds instead,
by any author. What is left out is counted, with the reason.

Each record is signed with your key, so that cordelia import believes it wherever your
key is known. A FILE that exists is not overwritten.`,
		Example: `  cordelia export --agents everything
  cordelia export --group team team.jsonl
  cordelia export --as researcher researcher.jsonl`,
		Args: cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Act(cmd.Context(), as, func(w *cli.Acting) error {
				r := ops.ExportRequest{As: w.As, Group: schemas.GroupID(group), Format: archive.Format(format)}
				switch {
				case agents && (as != "" || group != "" || len(words) == 0 || words[0] == "-"):
					return schemas.Invalidf("--agents is for everything of yours, in a folder").
						Expecting("the name of a new folder, and no --as or --group").Try(
						"run: cordelia export --agents FOLDER")
				case agents:
					return exportAll(cmd.Context(), w, words[0], r)
				}
				path := ""
				if len(words) > 0 && words[0] != "-" {
					path = words[0]
				}
				done, err := exportTo(cmd.Context(), w, path, r)
				if err != nil {
					return err
				}
				if path == "" {
					leftOut(w, done)
					return nil
				}
				if err := exported(w, path, nil, done); err != nil || as != "" || group != "" || w.AsJSON {
					return err
				}
				w.Note("what your agents wrote is theirs: cordelia export --agents FOLDER writes it, too; " +
					"cordelia export --group GROUP all that a group holds")
				return nil
			})
		},
	}
	formats := []string{string(archive.JSONL), string(archive.Markdown)}
	cmd.Flags().StringVar(&format, "format", formats[0], "jsonl (one record a line) or markdown (for people)")
	cmd.Flags().StringVar(&group, "group", "", "all that this group holds, by any author")
	cmd.Flags().BoolVar(&agents, "agents", false, "what your agents own, too: a folder with a file for each")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats,
		cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag exists
	cli.AsFlag(cmd, &as)
	return cmd
}

// exported says where the export is, what it holds and what it does not.
func exported(w *cli.Acting, path string, files []string, done archive.Exported) error {
	if w.AsJSON {
		out := struct {
			Path  string   `json:"path"`
			Files []string `json:"files,omitempty"`
			archive.Exported
		}{path, files, done}
		return w.PrintJSON(out)
	}
	where := cli.Clean(path)
	if files != nil {
		where += ": " + schemas.Count(len(files), "file", "files")
	}
	w.Say("exported %s and %s to %s", schemas.Count(done.Items, "item", "items"),
		schemas.Count(done.Groups, "group", "groups"), where)
	leftOut(w, done)
	return nil
}

// leftOut says what an export does not hold, and why.
func leftOut(w *cli.Acting, done archive.Exported) {
	for _, l := range done.Left {
		items := schemas.Count(l.Count, "item", "items")
		switch {
		case l.Why == "others":
			w.Note("left out: %s that others own in group %s; to write them: cordelia export --group %s",
				items, l.Group, l.Group)
		case l.Why == "staged":
			w.Note("left out: %s that wait for review", items)
		default:
			w.Note("left out: %s that were deleted", items)
		}
	}
}

// exportAll writes what the person and every agent below them own, a file for each owner.
func exportAll(ctx context.Context, w *cli.Acting, folder string, r ops.ExportRequest) error {
	list, err := everyAgent(ctx, w)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return schemas.Conflictf("%s exists already; nothing was written", folder).Try("choose another name")
	} else if err != nil {
		return unwritable(folder, err)
	}
	ending := ".jsonl"
	if r.Format == archive.Markdown {
		ending = ".md"
	}
	var files []string
	all := archive.Exported{Left: []memory.LeftOut{}}
	write := func(of schemas.EntityID, name string) error {
		path := filepath.Join(folder, name+ending)
		files = append(files, path)
		r.Of = of
		done, err := exportTo(ctx, w, path, r)
		all.Items, all.Groups = all.Items+done.Items, all.Groups+done.Groups
		for _, l := range done.Left {
			if l.Why != "others" { // theirs are in their files
				all.Left = append(all.Left, l)
			}
		}
		return err
	}
	if err := write("", string(w.Caller.Entity)); err != nil {
		return err
	}
	for _, i := range list {
		if err := write(i.AgentID, i.Name+"-"+cli.Short(i.AgentID)); err != nil {
			return err
		}
	}
	return exported(w, folder, files, all)
}

// everyAgent lists the agents below the person, those that have ended, too.
func everyAgent(ctx context.Context, w *cli.Acting) (list []ops.AgentRow, err error) {
	in := map[string]any{"include_ended": true, "limit": 100}
	for {
		page, err := cli.Ask[ops.AgentListOut](ctx, w, "agent_list", in)
		if err != nil {
			return nil, err
		}
		if list = append(list, page.Agents...); page.Cursor == "" {
			return list, nil
		}
		in["cursor"] = page.Cursor
	}
}

// exportTo writes the export beside where it goes and lets it out only once it
// is whole.
func exportTo(ctx context.Context, w *cli.Acting, path string, r ops.ExportRequest) (done archive.Exported, err error) {
	folder := w.Home
	if path != "" {
		folder = filepath.Dir(path)
	}
	temp, err := os.CreateTemp(folder, ".cordelia-export-*") // mode 0600
	if err != nil {
		return done, unwritable(path, err)
	}
	defer func() {
		temp.Close()           //nolint:errcheck // closed before if it matters
		os.Remove(temp.Name()) //nolint:errcheck // it has its own name by now
	}()
	ready := w.Progress("exporting")
	done, err = w.Node.Export(ctx, w.Caller, r, temp)
	ready()
	if err != nil {
		return done, err
	}
	if path == "" {
		if _, err := temp.Seek(0, io.SeekStart); err != nil {
			return done, unwritable(path, err)
		}
		return done, show(w, temp)
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return done, unwritable(path, err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return done, schemas.Conflictf("%s exists already; nothing was written", path).Try("choose another name")
	} else if err != nil {
		return done, unwritable(path, err)
	}
	return done, nil
}

// show copies an export to the output: byte for byte, but on a terminal, which would obey
// what agents wrote into it, with hidden characters made visible.
func show(w *cli.Acting, r io.Reader) error {
	if cli.Columns(w.Out) == 0 {
		_, err := io.Copy(w.Out, r)
		return err
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "{") {
			line = string(ops.EscapeJSON([]byte(line)))
		}
		if _, err := io.WriteString(w.Out, cli.Block(line)); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func unwritable(path string, err error) error {
	if path == "" {
		path = "to stdout"
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the export %s cannot be written", path).
		Try("choose a folder with space that you may write to").Because(err)
}
