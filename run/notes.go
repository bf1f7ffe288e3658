package run

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"

	"cordelia/schemas"
)

// Notes say what of the user's folder a run leaves out or cannot do; included are the
// uncommitted changes that it begins from.
func (r *Repository) Notes(ctx context.Context, included int) (notes []string) {
	if included > 0 {
		notes = append(notes, schemas.Count(included, "uncommitted change is", "uncommitted changes are")+
			" included, as the first commit of its branch")
	} else if n := r.uncommitted(ctx); n > 0 {
		notes = append(notes, schemas.Count(n, "uncommitted change is", "uncommitted changes are")+
			" left out: it works on the last commit; --include-changes begins from them")
	}
	if r.On == "" {
		notes = append(notes, "HEAD is on no branch: it works on the commit that HEAD is at")
	}
	if out, err := r.git.call(ctx, "", "ls-tree", "-r", r.Base); err == nil && strings.Contains("\n"+out, "\n160000 ") {
		notes = append(notes, "submodules are empty in the worktrees")
	}
	if out, err := r.git.call(ctx, "", "grep", "-l", "filter=lfs", r.Base, "--", "*.gitattributes",
		".gitattributes"); err == nil && out != "" {
		notes = append(notes, "files of Git LFS are pointers in the worktrees")
	}
	return notes
}

// uncommitted counts the changes in the user's folder that no commit has.
func (r *Repository) uncommitted(ctx context.Context) int {
	cmd := exec.CommandContext(ctx, "git", "-C", r.Top, "-c", "core.fsmonitor=false", "status", "--porcelain",
		"--untracked-files=normal")
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if out = bytes.TrimSpace(out); err != nil || len(out) == 0 {
		return 0
	}
	return bytes.Count(out, []byte("\n")) + 1
}
