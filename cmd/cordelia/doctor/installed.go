package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/setup"
	"cordelia/node"
)

// installed holds the programs that PATH and the record of set-up lead to against
// this one.
func (x *examination) installed(ctx context.Context, home node.Home) {
	const check = "installed program"
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		x.report(check, Skipped, "", "where this program is cannot be told: %v", err)
		return
	}
	_, record, err := setup.ReadManifest(home)
	if err != nil {
		x.refused("record of set-up", err)
		return
	}
	places := slices.Clone(record.Binaries)
	if found, err := exec.LookPath("cordelia"); err == nil && filepath.IsAbs(found) && !slices.Contains(places, found) {
		places = append(places, found)
	}
	before := len(x.findings)
	for _, place := range places {
		x.compareVersion(ctx, check, place, self, slices.Contains(record.Binaries, place))
	}
	if len(x.findings) == before {
		x.report(check, Fine, "", "%s", map[bool]string{true: "none but this", false: "this version"}[len(places) == 0])
	}
}

// compareVersion reports how the program at place differs from this one; ours means that setup
// put it there.
func (x *examination) compareVersion(ctx context.Context, check, place, self string, ours bool) {
	fix := fmt.Sprintf("replace it: %q setup", self)
	if !ours {
		fix = fmt.Sprintf("replace it with %q, or put that folder before it on PATH", self)
	}
	if !cli.Exists(place) {
		x.report(check, Problem, fix, "%s, which set-up put there, is gone", place)
		return
	}
	is, err := askVersion(ctx, place)
	if err != nil {
		x.report(check, Problem, fix, "%s does not run: %v", place, err)
		return
	}
	mine := identity{cli.Version(), node.SchemaVersion()}
	switch age := mine.against(is); {
	case is.Schema < mine.Schema:
		x.report(check, Problem, fix, "%s is older (%s): it cannot read what this one (%s) migrates", place, is, mine)
	case is.Schema > mine.Schema || age < 0:
		x.report(check, Warning, fmt.Sprintf("use that one: %q doctor", place), "%s is newer (%s) than this one (%s)",
			place, is, mine)
	case age > 0:
		x.report(check, Warning, fix, "%s is older (%s) than this one (%s)", place, is, mine)
	case is.Version != mine.Version:
		x.report(check, Warning, fix, "%s is another version (%s) than this one (%s)", place, is, mine)
	case !setup.IsCordelia(place): // a script that starts it
	default:
		if same, err := setup.SameContent(place, self); err == nil && !same {
			x.report(check, Warning, fix, "%s is another build of %s", place, mine.Version)
		}
	}
}

// identity is what a program says of itself.
type identity struct {
	Version string `json:"version"`
	Schema  int    `json:"schema"`
}

func (i identity) String() string {
	return fmt.Sprintf("%s, schema %d", strings.TrimPrefix(i.Version, "v"), i.Schema)
}

// against is positive if i is the newer of two releases, negative if the older,
// else 0: commits have no order that a program knows (semver.org, 2.0.0, §11).
func (i identity) against(other identity) int {
	a, b := "v"+strings.TrimPrefix(i.Version, "v"), "v"+strings.TrimPrefix(other.Version, "v")
	if !semver.IsValid(a) || !semver.IsValid(b) {
		return 0
	}
	return semver.Compare(a, b)
}

// askVersion starts the program at path to ask what it is.
func askVersion(ctx context.Context, path string) (is identity, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version", "--json").Output()
	if err != nil {
		return is, err
	}
	if err := json.Unmarshal(out, &is); err != nil || is.Version == "" {
		return is, errors.New("it does not say its version")
	}
	return is, nil
}
