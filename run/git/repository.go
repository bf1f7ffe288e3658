package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cordelia/schemas"
)

// Repository is the user's repository. Only Apply writes to its working tree, its index or a branch of the
// user's.
type Repository struct {
	Top  string  // its folder
	git  guarded // without a working tree
	Base string  // the commit that HEAD is at
	On   string  // the branch that HEAD is on, "" if it is on none
}

// Open finds the repository that a folder lies in. CodeInvalid says in words
// why it cannot be worked in.
func Open(ctx context.Context, dir string) (*Repository, error) {
	ask := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git",
			append([]string{"-C", dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}, args...)...)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "git is not installed").Try("install git 2.38 or newer").
			Because(err)
	}
	top, err := ask("rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return nil, schemas.Invalidf("%s lies in no git working tree", dir).Expecting("a folder of a git repository").
			Try("run it in your repository, or make one: git init && git add -A && %s", firstCommit(ask))
	}
	common, err := ask("rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	r := &Repository{Top: top, git: guarded{dir: common}}
	if r.git.off, err = r.git.programs(ctx); err != nil {
		return nil, err
	}
	// HEAD of the working tree that the user is in, which need not be the main one.
	if r.Base, err = ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, schemas.Invalidf("the repository in %s has no commit yet", top).Expecting("a commit to begin from").
			Try("git add -A && %s", firstCommit(ask))
	}
	if _, err := r.git.line(ctx, "merge-tree", "--write-tree", r.Base, r.Base); err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "this git cannot merge without a working tree").
			Try("install git 2.38 or newer").Because(err)
	}
	r.On = r.head(ctx)
	return r, nil
}

// firstCommit is a command that makes a repository's first commit, also of a folder without files and
// for a user whom git has no name of.
func firstCommit(ask func(args ...string) (string, error)) string {
	who := ""
	if _, err := ask("var", "GIT_COMMITTER_IDENT"); err != nil {
		who = "-c user.name=me -c user.email=me@localhost "
	}
	return "git " + who + "commit --allow-empty -m begin"
}

// maxListed is how much of the list of files a planner is shown, in bytes.
const maxListed = 1500

// Files lists the files of a commit for a planner: each, or only folders where there are
// many.
func (r *Repository) Files(ctx context.Context, commit string) string {
	out, err := r.git.call(ctx, "", "ls-tree", "-r", "--name-only", commit)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(out), "\n")
	if text := strings.Join(all, "\n"); len(text) <= maxListed {
		return text
	}
	count := map[string]int{}
	var order []string
	for _, f := range all {
		dir := filepath.ToSlash(filepath.Dir(f))
		if count[dir]++; count[dir] == 1 {
			order = append(order, dir)
		}
	}
	var b strings.Builder
	for _, dir := range order {
		fmt.Fprintf(&b, "%s/ (%d)\n", dir, count[dir])
	}
	return schemas.Shorten(b.String(), maxListed)
}

// Branch is where the accepted work of a task goes.
func Branch(task string) string { return "cordelia/" + schemas.ShortID(task) }

// ref is the full name of a branch of a task.
func ref(task string) string { return "refs/heads/" + Branch(task) }

// Tip is the newest commit of a task's branch; the branch is made at base if it is not
// there.
func (r *Repository) Tip(ctx context.Context, task string) (string, error) {
	if at, err := r.BranchTip(ctx, task); at != "" || err != nil {
		return at, err
	}
	return r.Base, r.git.updateRef(ctx, "", ref(task), r.Base, strings.Repeat("0", len(r.Base)))
}

// Conflict is a merge that git cannot make.
type Conflict struct {
	Files []string
	Hunks string // of both sides
}

func (c *Conflict) Error() string { return "conflicts in " + strings.Join(c.Files, ", ") }

// Merge puts a commit on a task's branch. A *Conflict says that both changed the same
// places, and CodeConflict that the branch is checked out; then it stays as it is.
func (r *Repository) Merge(ctx context.Context, task, commit, message string) error {
	locked, free, err := r.alone(ctx) // another process may merge at the same moment
	if err != nil {
		return err
	}
	defer free()
	tip, err := locked.Tip(ctx, task)
	if err != nil {
		return err
	}
	base, err := locked.git.line(ctx, "merge-base", tip, commit)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	next := commit
	switch base {
	case commit: // it is there already
		return nil
	case tip:
	default:
		if next, err = locked.joined(ctx, tip, commit, message); err != nil {
			return err
		}
	}
	if err := locked.unused(ctx, task); err != nil {
		return err
	}
	return locked.git.updateRef(ctx, "", ref(task), next, tip)
}

// maxHunks is how much of a conflict is kept as evidence, in bytes.
const maxHunks = 4000

// joined is a commit that merges two.
func (r *Repository) joined(ctx context.Context, ours, theirs, message string) (string, error) {
	// With -z the tree and the files each end in a NUL, and no name is quoted.
	out, err := r.git.call(ctx, "", "merge-tree", "-z", "--write-tree", "--name-only", "--no-messages", ours, theirs)
	tree, files, _ := strings.Cut(strings.TrimRight(out, "\x00\n"), "\x00")
	if exitOf(err) == 1 {
		c := &Conflict{Files: strings.Split(files, "\x00")}
		for _, f := range c.Files {
			text, err := r.git.call(ctx, "", "show", tree+":"+f)
			if err == nil {
				c.Hunks += hunks(f, text)
			}
		}
		c.Hunks = schemas.Shorten(c.Hunks, maxHunks)
		return "", c
	}
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	return r.git.line(ctx, "commit-tree", tree, "-p", ours, "-p", theirs, "-m", message)
}

// hunks are the places of a file that conflict.
func hunks(file, text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "<<<<<<< ") {
			inside = true
			fmt.Fprintf(&b, "%s:\n", file)
		}
		if inside {
			b.WriteString(line)
		}
		if strings.HasPrefix(line, ">>>>>>> ") {
			inside = false
		}
	}
	return b.String()
}

// Diff is what changed between two commits, at most so many bytes of it.
func (r *Repository) Diff(ctx context.Context, from, to string, limit int) (string, error) {
	out, err := r.git.call(ctx, "", "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch", from,
		to)
	return schemas.Shorten(out, limit), err
}

// Held are the locks that this process holds for runs. A child that inherits them keeps other runs out, too.
func (r *Repository) Held() []*os.File { return r.git.held }

// Dir is the folder in which git keeps what belongs to the repository.
func (r *Repository) Dir() string { return r.git.dir }

// Changed lists the files that a commit added, changed or removed since its line left Base; none if they have
// nothing in common.
func (r *Repository) Changed(ctx context.Context, commit string) ([]string, error) {
	base, err := r.git.line(ctx, "merge-base", r.Base, commit)
	if err != nil {
		return nil, nil //nolint:nilerr // the user may be elsewhere by now
	}
	out, err := r.git.call(ctx, "", "diff", "--name-only", "--no-renames", "--diff-filter=AMDT", "-z", base, commit)
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}
