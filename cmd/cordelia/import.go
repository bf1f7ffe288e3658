package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/memory/archive"
	"cordelia/ops"
	"cordelia/schemas"
)

func importCommand(a *cli.App) *cobra.Command {
	var r ops.ImportRequest
	var as, group string
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Take memories over from files or folders",
		Long: `Take memories over as your own, or as an agent's (--as): exports, plain Markdown
(CLAUDE.md, AGENTS.md, notes), transcripts of conversations (the JSONL of Claude Code and Codex, or "User: …" and
"Assistant: …"), the JSONL of the reference memory server, and folders of these. Which is
which is found out; a file named .jsonl, or with a line of an export in it, is never a note.
FILE may be - for stdin. A second time it changes nothing.

What you import as your own your agents do not read: name the agent that your client acts
as, or a group.

What your key, or this node, signed keeps its author, its provenance and its place. All
else is external: marked as imported by you, not validated, and what instructs in it waits
for cordelia memory release. Your context is replaced only with --replace-context. What
cannot be imported is left out and counted with the reason.`,
		Example: `  cordelia import mine.jsonl
  cordelia import --as claude-code CLAUDE.md ~/.claude/projects
  cordelia import --group team CLAUDE.md docs/notes
  cordelia import --create-groups --as researcher researcher.jsonl`,
		Args: cli.Wants(100, "FILE"),
		RunE: func(cmd *cobra.Command, words []string) (err error) {
			if r.Files, err = importInputs(a, words); err != nil {
				return err
			}
			r.Group = schemas.GroupID(group)
			return a.Act(cmd.Context(), as, func(w *cli.Acting) error {
				r.As = w.As
				ready := a.Progress("importing")
				done, err := w.Node.Import(cmd.Context(), w.Caller, r)
				ready()
				if err != nil {
					return err
				}
				return imported(a, done)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&group, "group", "", "where to put Markdown, transcripts and the memory server's; omitted: yours alone")
	f.BoolVar(&r.CreateGroups, "create-groups", false, "make the groups that the files name and that are not here")
	f.BoolVar(&r.ReplaceContext, "replace-context", false, "put the context of the export in the place of yours")
	cli.AsFlag(cmd, &as)
	return cmd
}

// imported shows what an import did. It fails where records were left out.
func imported(a *cli.App, done archive.Imported) error {
	if a.AsJSON {
		if err := a.PrintJSON(done); err != nil {
			return err
		}
	} else {
		f := cli.Fields{}
		f.Add("new", fmt.Sprint(done.New))
		f.Add("of these external", fmt.Sprint(done.External))
		f.Add("here already", fmt.Sprint(done.Same))
		f.Add("refused", fmt.Sprint(done.RefusedCount()))
		f.Add("groups", fmt.Sprintf("%d new", done.Groups))
		f.Add("context", map[archive.ContextImport]string{
			archive.ContextSame: "the same", archive.ContextReplaced: "replaced",
			archive.ContextKept: "yours stays; --replace-context takes that of the file",
		}[done.Context])
		a.List(f)
		if len(done.Refused) > 0 {
			a.Say("")
			t := cli.Table{Firm: 1, Head: []string{"REFUSED", "WHY", "WHERE"}}
			for _, r := range done.Refused {
				where := strings.Join(r.Where, ", ")
				if r.Count > len(r.Where) {
					where += " …"
				}
				t.Add(cli.Texts(fmt.Sprint(r.Count), cli.Clean(r.Why), cli.Clean(where))...)
			}
			a.Print(t)
		}
	}
	if n := done.RefusedCount(); n > 0 {
		return schemas.Invalidf("%s not imported; the rest was", schemas.Count(n, "record was", "records were")).
			Try("correct what is listed and import again: what is here already stays as it is")
	}
	return nil
}

// importInputs lists the files that words name, those in folders by their path in them.
func importInputs(a *cli.App, words []string) (list []archive.Input, err error) {
	skipped, links := 0, 0
	for _, word := range words {
		if word == "-" {
			list = append(list, archive.InputOf("", a.In))
			continue
		}
		info, err := os.Stat(word)
		if err != nil {
			return nil, unreadableInput(word, err)
		}
		if !info.IsDir() {
			list = append(list, fileInput(filepath.Base(word), word))
			continue
		}
		root, err := filepath.EvalSymlinks(word) // a link is not walked
		if err != nil {
			return nil, unreadableInput(word, err)
		}
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			hidden := path != root && strings.HasPrefix(d.Name(), ".")
			switch {
			case err != nil:
				return schemas.NotFoundf("%s cannot be read", path).Try("name a folder that you may read").Because(err)
			case d.IsDir() && (hidden || d.Name() == "node_modules"):
				return fs.SkipDir
			case d.IsDir():
			case d.Type().IsRegular() && !hidden && (isMarkdown(path) || archive.Records(path)):
				name, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				list = append(list, fileInput(filepath.ToSlash(name), path))
			case d.Type()&fs.ModeSymlink != 0:
				links++
			default:
				skipped++
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if skipped > 0 {
		a.Note("left out: %s, neither Markdown nor JSONL", schemas.Count(skipped, "file", "files"))
	}
	if links > 0 {
		a.Note("left out: %s; name what it leads to, unless that is in the folder",
			schemas.Count(links, "link", "links"))
	}
	if len(list) == 0 {
		return nil, schemas.NotFoundf("there is no Markdown or JSONL in %s", strings.Join(words, ", ")).
			Try("name the files themselves")
	}
	return list, nil
}

func unreadableInput(word string, err error) error {
	return schemas.NotFoundf("%s cannot be read", word).
		Try("name a file or folder that you may read").Because(err)
}

func isMarkdown(path string) bool { return hasEnding(path, ".md", ".markdown", ".mdown") }

func hasEnding(path string, endings ...string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(path)))
}

func fileInput(name, path string) archive.Input {
	return archive.Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}
