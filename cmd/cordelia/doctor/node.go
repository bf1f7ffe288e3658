package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/internal/keys"
	"cordelia/node"
	"cordelia/schemas"
	"cordelia/trust"
)

func (x *examination) folder() {
	const check = "home folder"
	info, err := os.Stat(x.home)
	switch {
	case errors.Is(err, os.ErrNotExist):
		x.report(check, Problem, "cordelia setup", "%s does not exist", x.home)
	case err != nil:
		x.report(check, Problem, "check the folders above it: ls -ld "+filepath.Dir(x.home), "%s cannot be read",
			x.home)
	case !info.IsDir():
		x.report(check, Problem, "move the file away, then: cordelia setup", "%s is not a folder", x.home)
	case !platform.OwnedByMe(info):
		x.report(check, Problem, fmt.Sprintf("run as its owner, or: sudo chown -R %d %q", os.Geteuid(), x.home),
			"%s belongs to another user", x.home)
	case private(info) != nil:
		x.report(check, Problem, fmt.Sprintf("chmod 700 %q", x.home), "%s: %v", x.home, private(info))
	case openAbove(x.home) != "":
		open := openAbove(x.home)
		x.report(check, Warning, fmt.Sprintf("chmod go-w %q", open),
			"%s: other users may write %s, and so put another folder in its place", x.home, open)
	default:
		x.report(check, Fine, "", "%s", x.home)
	}
}

// private refuses a mode that lets others in; Windows has no modes.
func private(info os.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		return fmt.Errorf("open to other users (mode %04o)", mode)
	}
	return nil
}

// Below lowSpace a doctor warns; below noSpace writes will soon fail. Bytes.
const (
	lowSpace = 1 << 30
	noSpace  = 64 << 20
)

func (x *examination) disk() {
	dir := x.home
	for !cli.Exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	if name, bad := node.NetworkFileSystem(dir); bad {
		x.report("file system", Problem,
			"move the home folder to a local disk and name it with --home or CORDELIA_HOME",
			"%s is on a network file system (%s), where SQLite corrupts data", dir, name)
	} else {
		x.report("file system", Fine, "", "local")
	}
	free, err := platform.FreeSpace(dir)
	v, fix := Fine, ""
	switch {
	case err != nil:
		x.report("disk space", Warning, "df -h "+dir, "not known: %v", err)
		return
	case free < noSpace:
		v, fix = Problem, "free some space, or move the home folder: cordelia --home DIR setup"
	case free < lowSpace:
		v, fix = Warning, "free some space"
	}
	x.report("disk space", v, fix, "%d MiB free", free>>20)
}

// The checks of the key files that setup makes.
const (
	YourKey   = "your key"
	ClientKey = "client agent's key"
	agentKeys = "agents' keys"
)

// heldKey is a key file that could be opened.
type heldKey struct {
	path string
	file keys.File
	must bool // the database has to know it
}

// keyFiles opens every key file. The caller erases the secrets.
func (x *examination) keyFiles(home node.Home) (held []heldKey) {
	if info, err := os.Stat(filepath.Dir(home.HumanKey())); err == nil && private(info) != nil {
		x.report("key folder", Problem, fmt.Sprintf("chmod 700 %q", filepath.Dir(home.HumanKey())), "%v", private(info))
	}
	opened := 0
	address, err := x.app.Database(home)
	joined := err == nil && address != "" && home.Fresh() // a database whose user has another home
	open := func(check, path string, must bool) {
		asked := false
		f, err := keys.LoadFile(path, func() ([]byte, error) {
			asked = true
			return nil, errors.New("not asked for")
		})
		switch {
		case err == nil:
			if check == agentKeys {
				opened++
			} else {
				x.report(check, Fine, "", "%s", cli.Short(f.EntityID))
			}
			held = append(held, heldKey{path, f, must})
		case asked:
			x.report(check, Fine, "", "protected by a passphrase, so not opened")
		case joined && must && errors.Is(err, schemas.ErrNotFound):
			x.report(check, Fine, "", "none here, and a node that serves tokens needs none; to give commands as the "+
				"user here, copy the folder keys of the home that made the user")
		default:
			x.refused(check, err)
		}
	}
	open(YourKey, home.HumanKey(), true)
	open(ClientKey, home.DefaultAgentKey(), true)
	open("node key", home.NodeKey(), false)
	entries, err := os.ReadDir(home.AgentKeys())
	if err != nil {
		return held // there is no such folder until an agent is registered
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".key" {
			open(agentKeys, filepath.Join(home.AgentKeys(), e.Name()), false)
		}
	}
	if opened > 0 {
		x.report(agentKeys, Fine, "", "%s of agents, each in order", schemas.Count(opened, "key file", "key files"))
	}
	return held
}

// database reads the whole database without changing it. It reports whether it
// is sound and of this program's schema.
func (x *examination) database(ctx context.Context, home node.Home, held []heldKey) bool {
	if address, err := x.app.Database(home); err != nil {
		x.refused("database", err)
		return false
	} else if address != "" {
		return x.shared(ctx, home)
	}
	path := home.Database()
	if !cli.Exists(path) {
		x.noDatabase(home)
		return false
	}
	folders, files := x.checkpointFiles(home)
	held = slices.DeleteFunc(slices.Clone(held), func(k heldKey) bool { return k.file.Kind == keys.Node })
	var here []schemas.EntityID
	for _, k := range held {
		here = append(here, k.file.EntityID)
	}
	found, err := node.Inspect(ctx, home, files, here)
	if err != nil {
		x.unreadable(err)
		return false
	}
	x.vectors = found.Vectors
	if found.Lost != nil {
		x.lost(home, found.Lost)
	}
	x.match(found, held)
	x.report("database", Fine, "", "%s, %d KiB, every page and reference in order", path, found.Bytes>>10)
	x.writable(path)
	current := found.Schema == node.SchemaVersion()
	if current {
		x.report("schema", Fine, "", "version %d", found.Schema)
	} else {
		x.report("schema", Warning, "cordelia setup, or the next client that starts, migrates it; make a backup "+
			"first: cordelia backup FILE",
			"version %d, this program's is %d", found.Schema, node.SchemaVersion())
	}
	x.record(found.Record, found.RecordErr)
	x.checkpoints(folders, files, found.Record)
	if current { // an older schema may have no trust
		x.trust(found.Trust, found.TrustErr)
	}
	x.roles(home, found.Roles, false)
	return current
}

// noDatabase reports that the file is missing.
func (x *examination) noDatabase(home node.Home) {
	fix := "cordelia setup; if you have a backup: cordelia restore FILE"
	if !home.Fresh() {
		fix = x.app.HintOf(cli.Gone(home))
	}
	x.report("database", Problem, fix, "%s does not exist", home.Database())
	x.report("audit record", Skipped, "", "no database")
}

// unreadable reports that the database could not be read.
func (x *examination) unreadable(err error) {
	fix := x.app.HintOf(err)
	if e, ok := errors.AsType[*schemas.Error](err); ok && e.Code == schemas.CodeUnavailable && e.Err != nil {
		fix = "put back a backup: cordelia restore FILE; nothing else mends it"
	}
	x.report("database", Problem, fix, "%s", schemas.MessageOf(err))
	x.report("audit record", Skipped, "", "the database cannot be read")
}

// trust reports whether the scores are what their ledger gives.
func (x *examination) trust(v trust.Verified, err error) {
	const check = "trust scores"
	if err != nil {
		x.refused(check, err)
		return
	}
	x.report(check, Fine, "", "%d, replayed from %s", v.Scores+v.Skills,
		schemas.Count(int(v.Assessments+v.Feedback), "entry", "entries"))
}

// lost says of a key file that is missing what brings it back: setup does not, as
// the database knows its owner.
func (x *examination) lost(home node.Home, err error) {
	for i := range x.findings {
		f := &x.findings[i]
		if f.Check == YourKey && home.Fresh() || f.Check == ClientKey && !cli.Exists(home.DefaultAgentKey()) {
			f.Fix = x.app.HintOf(err)
		}
	}
}

// match checks the key files against the database.
func (x *examination) match(found node.Inspection, held []heldKey) {
	const check = "keys match database"
	matched := 0
	for _, k := range held {
		r, known := found.Known[k.file.EntityID]
		switch {
		case !known && k.must:
			x.report(check, Problem, "put the matching database or key file back from a backup; if nothing is to be "+
				"kept: cordelia uninstall --purge, then cordelia setup",
				"the database does not know %s of %s", k.file.EntityID, k.path)
		case !known:
			x.report(check, Warning, fmt.Sprintf("if it is of no use: rm %q", k.path),
				"the database does not know the agent of %s", k.path)
		case k.file.Kind == keys.Human && !bytes.Equal(r.Key.PublicKey, k.file.Identity.PublicKey()):
			if next, err := keys.ReadHeader(k.path + node.NextKey); err == nil && bytes.Equal(next.PublicKey, r.Key.PublicKey) {
				x.report(check, Problem, "cordelia key info, which ends it", "a rotation of your key was cut short")
				continue
			}
			x.report(check, Problem, "put a backup of that file back: nothing else can open this home",
				"%s holds an old key, or a stranger's", k.path)
		case !bytes.Equal(r.Key.PublicKey, k.file.Identity.PublicKey()):
			x.report(check, Problem, fmt.Sprintf("cordelia key unwrap %s", k.file.EntityID), "%s holds an old key",
				k.path)
		case k.must && r.Status == schemas.Suspended:
			x.report(check, Problem, "cordelia agent resume "+r.Name, "%s, the agent your clients act as, is suspended",
				r.Name)
		case k.must && r.Status == schemas.Deactivated:
			x.report(check, Problem, "cordelia agent reactivate "+r.Name,
				"%s, the agent your clients act as, is deactivated", r.Name)
		default:
			matched++
		}
	}
	switch {
	case matched != len(held):
	case len(found.Keyless) > 0: // a process that made them was killed before it stored theirs, or they work elsewhere
		x.report(check, Fine, fmt.Sprintf("cordelia key unwrap %s, for each that is to work here", found.Keyless[0].ID),
			"%s; %s none here, such as %s", schemas.Count(matched, "key file", "key files"),
			schemas.Count(len(found.Keyless), "agent of yours has", "agents of yours have"), found.Keyless[0].Name)
	default:
		x.report(check, Fine, "", "%s", schemas.Count(matched, "key file", "key files"))
	}
}

// notifier checks in a folder made for the test that processes can wake each other, and counts
// the sockets that killed ones left.
func (x *examination) notifier(home node.Home) {
	const check = "notifier"
	if err := ringOnce(); err != nil {
		x.report(check, Warning, "processes find news by polling, every 100 ms; nothing is lost",
			"local sockets do not work: %v", err)
		return
	}
	dir := home.Database() + ".bells"
	if info, err := os.Stat(dir); err == nil && (private(info) != nil || !platform.OwnedByMe(info)) {
		x.report(check, Warning, fmt.Sprintf("end all cordelia processes, then: rm -r %q", dir),
			"%s is not yours alone, so processes only poll", dir)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		x.report(check, Warning, fmt.Sprintf("ls -ld %q", dir), "%s cannot be read", dir)
		return
	}
	waiting, stale := 0, 0
	for _, e := range entries {
		if ok, err := platform.Listened(filepath.Join(dir, e.Name())); ok {
			waiting++
		} else if err == nil {
			stale++
		}
	}
	if stale > 0 {
		x.report(check, Warning, "nothing to do: the next write removes them", "works; %s, %s left of killed ones",
			schemas.Count(waiting, "process waits", "processes wait"), schemas.Count(stale, "socket is", "sockets are"))
		return
	}
	x.report(check, Fine, "", "works; %s", schemas.Count(waiting, "process waits", "processes wait"))
}

// ringOnce sends a datagram through a socket file to itself.
func ringOnce() (err error) {
	if os.PathSeparator != '/' {
		return nil // there is none; polling is all
	}
	dir, err := os.MkdirTemp("", "cordelia-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at := &net.UnixAddr{Name: filepath.Join(dir, "bell"), Net: "unixgram"}
	c, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // nothing is kept
	if _, err := c.WriteToUnix([]byte{1}, at); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

// writable tries whether the file could be written, without doing so.
func (x *examination) writable(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		x.report("database", Problem, "give the file and its folder back to your user: chown, then chmod u+rw "+path,
			"%s can be read but not written", path)
		return
	}
	f.Close() //nolint:errcheck // nothing was written
}
