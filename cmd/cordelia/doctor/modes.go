package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordelia/cmd/cordelia/config"
	"cordelia/cmd/cordelia/platform"
	"cordelia/internal/keys"
	"cordelia/node"
)

// modes checks what others could do to the files of the home if its folder were
// ever opened: no other user reads the database, and no other user writes the settings,
// which allow commands. Key files are checked where they are opened.
func (x *examination) modes(home node.Home) {
	const check = "file modes"
	if os.PathSeparator != '/' {
		return // access lists, inherited from the user's profile
	}
	database := home.Database()
	var open []string
	for path, forbidden := range map[string]os.FileMode{
		database: 0o077, database + "-wal": 0o077, database + "-shm": 0o077, database + ".lock": 0o077,
		config.File(home): 0o022,
	} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&forbidden != 0 {
			open = append(open, fmt.Sprintf("%q", path))
		}
	}
	if len(open) > 0 {
		slices.Sort(open)
		x.report(check, Problem, "chmod go-rwx "+strings.Join(open, " "), "open to other users: %s",
			strings.Join(open, ", "))
		return
	}
	x.report(check, Fine, "", "the database is yours alone")
}

// passwords warns of a file with the database's password that other users can read: psql passes
// over it, and this program does not.
func (x *examination) passwords(home node.Home) {
	address, err := x.app.Database(home)
	if err != nil || address == "" { // another line tells of the error
		return
	}
	file := os.Getenv("PGPASSFILE")
	if dir, err := os.UserHomeDir(); file == "" && err == nil {
		file = filepath.Join(dir, ".pgpass")
	}
	if info, err := os.Stat(file); err == nil && private(info) != nil {
		x.report("password file", Warning, fmt.Sprintf("chmod 600 %q", file), "%s: %v", file, private(info))
	}
}

// openAbove is a folder above dir that users other than root and this one may write, "" if
// there is none. In a sticky one they move nothing that is not theirs.
func openAbove(dir string) string {
	for last := dir; ; last = dir {
		if dir = filepath.Dir(dir); dir == last || os.PathSeparator != '/' {
			return ""
		}
		info, err := os.Stat(dir)
		if err != nil {
			return ""
		}
		ours := platform.OwnedByMe(info) || platform.OwnerName(info) == "root"
		if !ours || info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return dir
		}
	}
}

// leftovers tells what killed processes left beside key files.
func (x *examination) leftovers(home node.Home) {
	const check = "half-made keys"
	if keys.Offered(home.HumanKey()) {
		x.report("passphrase", Warning, "cordelia key info, which ends it one way or the other",
			"a change of your key's passphrase was cut short")
	}
	for _, dir := range []string{filepath.Dir(home.HumanKey()), home.AgentKeys()} {
		list, err := keys.FindUnfinished(dir, time.Now())
		if err != nil {
			x.refused(check, err)
		}
		for _, u := range list {
			if u.Dead {
				x.report(check, Warning, "cordelia setup, which removes it", "%s was left by a process that was killed",
					u.Path)
				continue
			}
			x.report(check, Warning, fmt.Sprintf("if no agent needs that key: rm %q", u.Path),
				"%s, left by a process that was killed, holds a key that no file beside it holds", u.Path)
		}
	}
}
