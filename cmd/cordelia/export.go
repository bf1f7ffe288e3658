package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordelia/memory"
	"cordelia/schemas"
)

func (a *app) exportCommand() *cobra.Command {
	var as, format string
	var agents bool
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write everything you own to a file, or to stdout (-)",
		Long: `Write everything you or an agent (--as) own: the context, the groups and the
items with their versions and provenance. What your agents wrote for themselves is
theirs: with --agents all of it is written, too, also of those that have ended, one
file each, in the new folder FILE. cordelia import reads both formats, for you or
--as the agent. A FILE that exists is not overwritten.`,
		Example: `  cordelia export --agents everything
  cordelia export --as researcher researcher.jsonl`,
		Args: wants(0, 1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.act(cmd.Context(), as, func(w *acting) error {
				f := memory.Format(format)
				switch {
				case agents && (as != "" || len(words) == 0 || words[0] == "-"):
					return schemas.Invalidf("--agents is for everything of yours, in a folder").
						Expecting("the name of a new folder, and no --as").Try("run: cordelia export --agents FOLDER")
				case agents:
					return w.exportAll(cmd.Context(), words[0], f)
				case len(words) == 0 || words[0] == "-":
					return w.exportTo(cmd.Context(), "", "", f)
				}
				if err := w.exportTo(cmd.Context(), "", words[0], f); err != nil {
					return err
				}
				return w.exported(words[0], nil)
			})
		},
	}
	formats := []string{string(memory.JSONL), string(memory.Markdown)}
	cmd.Flags().StringVar(&format, "format", formats[0], "jsonl (one record a line) or markdown (for people)")
	cmd.Flags().BoolVar(&agents, "agents", false, "what your agents own, too: a folder with a file for each")
	cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag exists
	asFlag(cmd, &as)
	return cmd
}

// exported says where it is.
func (w *acting) exported(path string, files []string) error {
	if w.asJSON {
		out := map[string]any{"path": path}
		if files != nil {
			out["files"] = files
		}
		return w.printJSON(out)
	}
	w.say("exported to %s", path)
	return nil
}

// exportAll writes what the person and every agent below them own, each into a file
// of its own.
func (w *acting) exportAll(ctx context.Context, folder string, format memory.Format) error {
	list, err := w.everyAgent(ctx)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return schemas.Conflictf("%s exists already; nothing was written", folder).Try("choose another name")
	} else if err != nil {
		return unwritable(folder, err)
	}
	ending := ".jsonl"
	if format == memory.Markdown {
		ending = ".md"
	}
	var files []string
	write := func(of schemas.EntityID, name string) error {
		path := filepath.Join(folder, name+ending)
		files = append(files, path)
		return w.exportTo(ctx, of, path, format)
	}
	if err := write("", string(w.caller.Entity)); err != nil {
		return err
	}
	for _, i := range list {
		if err := write(schemas.EntityID(i.AgentID), i.Name+"-"+short(i.AgentID)); err != nil {
			return err
		}
	}
	return w.exported(folder+": "+schemas.Count(len(files), "file", "files"), files)
}

// everyAgent lists the agents below the person, those that have ended, too.
func (w *acting) everyAgent(ctx context.Context) (list []agentView, err error) {
	in := map[string]any{"include_ended": true, "limit": 100}
	for {
		answer, err := w.call(ctx, "agent_list", in)
		if err != nil {
			return nil, err
		}
		var page agentsView
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		if list = append(list, page.Agents...); page.Cursor == "" {
			return list, nil
		}
		in["cursor"] = page.Cursor
	}
}

// exportTo writes the export beside where it goes and lets it out only once it
// is whole.
func (w *acting) exportTo(ctx context.Context, of schemas.EntityID, path string, format memory.Format) (err error) {
	folder := w.home
	if path != "" {
		folder = filepath.Dir(path)
	}
	temp, err := os.CreateTemp(folder, ".cordelia-export-*") // mode 0600
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		temp.Close()           //nolint:errcheck // closed before if it matters
		os.Remove(temp.Name()) //nolint:errcheck // it has its own name by now
	}()
	done := w.progress("exporting")
	err = w.node.Export(ctx, w.caller, w.as, of, temp, format)
	done()
	if err != nil {
		return err
	}
	if path == "" {
		if _, err := temp.Seek(0, io.SeekStart); err != nil {
			return unwritable(path, err)
		}
		_, err = io.Copy(w.out, temp)
		return err
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return unwritable(path, err)
	}
	if err := os.Link(temp.Name(), path); errors.Is(err, fs.ErrExist) {
		return schemas.Conflictf("%s exists already; nothing was written", path).Try("choose another name")
	} else if err != nil {
		return unwritable(path, err)
	}
	return nil
}

func unwritable(path string, err error) error {
	if path == "" {
		path = "to stdout"
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the export %s cannot be written", path).
		Try("choose a folder with space that you may write to").Because(err)
}

func (a *app) importCommand() *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Take an export over as your own",
		Long: `Take an export over as your own, or as an agent's (--as): the same
hashes, all or nothing; an id that is taken is made anew. A second time it changes nothing. FILE may be - for stdin.`,
		Example: "  cordelia import --as researcher researcher.jsonl",
		Args:    wants(1, 1),
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			in := a.in
			if words[0] != "-" {
				if in, err = os.Open(words[0]); err != nil {
					return schemas.NotFoundf("%s cannot be read", words[0]).Try("name a file that cordelia export wrote").Because(err)
				}
				defer in.Close() //nolint:errcheck // only read
			}
			return a.act(cmd.Context(), as, func(w *acting) error {
				done := a.progress("importing")
				report, err := w.node.Import(cmd.Context(), w.caller, w.as, in)
				done()
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(report)
				}
				f := fields{}
				f.add("items", fmt.Sprintf("%d new, %d there already", report.Items, report.Same))
				f.add("groups", fmt.Sprintf("%d new", report.Groups))
				f.add("context", yesNo(report.Hot))
				a.list(f)
				return nil
			})
		},
	}
	asFlag(cmd, &as)
	return cmd
}
