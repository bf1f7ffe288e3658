package setup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/clientsettings"
	"cordelia/node"
	"cordelia/schemas"
)

// setupPlan is everything setup will do, found out without touching anything.
type setupPlan struct {
	flags        setupFlags
	home         node.Home
	shared       bool // the state is in a server's database
	binary       binary
	folders      []folder // to make, outermost first
	edits        []settingsEdit
	manifest     Manifest
	manifestFile manifestFile

	changes   []Change
	connected []clientsettings.ID
	titles    []string // of these
	notes     []string
}

type folder struct {
	path string
	mode fs.FileMode
}

// settingsEdit is the new content of a settings file; nil removes it.
type settingsEdit struct {
	file    clientsettings.File
	content []byte
}

func planSetup(ctx context.Context, a *cli.App, f setupFlags) (*setupPlan, error) {
	m, err := Machine()
	if err != nil {
		return nil, err
	}
	p := &setupPlan{flags: f}
	if p.home, err = a.AbsoluteHome(); err != nil {
		return nil, err
	}
	p.manifestFile, p.manifest, err = ReadManifest(p.home)
	if err != nil {
		return nil, err
	}
	address, err := a.Database(p.home)
	if err != nil {
		return nil, err
	}
	if p.shared = address != ""; p.shared {
		err = node.CheckJoin(ctx, p.home, address)
	} else {
		err = keyLost(ctx, p.home)
	}
	if err != nil {
		return nil, err
	}
	if err := p.planKey(); err != nil {
		return nil, err
	}
	if p.binary, err = planBinary(f, p.manifest, m.Home); err != nil {
		return nil, err
	}
	if p.binary.action != Unchanged {
		p.need(filepath.Dir(p.binary.target), 0o755)
		p.manifest.addBinary(p.binary.target)
	}
	p.changes = append(p.changes, Change{p.binary.action, p.binary.target, "the program"})
	p.planHome()
	if err := p.planClients(m); err != nil {
		return nil, err
	}
	p.changes = append(p.changes, Change{p.manifestFile.action(p.manifest), p.manifestFile.Path,
		"what uninstall needs to go back"})
	if dir := filepath.Dir(p.binary.target); !OnPath(dir) {
		p.notes = append(p.notes, dir+" is not on your PATH. Clients do not need it; to type its commands, add "+
			"to your shell's profile:\n  export PATH="+cli.Quoted(dir)+":\"$PATH\"")
	}
	return p, nil
}

// keyLost refuses a home whose database knows the owner of a key that is gone. It only
// reads the file.
func keyLost(ctx context.Context, home node.Home) error {
	if !home.Fresh() && cli.Exists(home.DefaultAgentKey()) || !cli.Exists(home.Database()) {
		return nil
	}
	return node.LostKeyOf(ctx, home)
}

// planHome lists the folder and files of the identity step, which makes them.
func (p *setupPlan) planHome() {
	if !cli.Exists(string(p.home)) {
		p.changes = append(p.changes, Change{created, string(p.home), "folder of your keys and memories"})
	}
	for _, file := range []struct{ path, what string }{
		{p.home.HumanKey(), "your key"},
		{p.home.DefaultAgentKey(), "the key of the agent your clients act as"},
		{p.home.NodeKey(), "the key of this node"},
		{p.home.Database(), "the database"},
	} {
		act := Unchanged
		if p.shared && file.path == p.home.Database() {
			continue
		}
		if _, err := os.Lstat(file.path); err != nil {
			act = created
		}
		p.changes = append(p.changes, Change{act, file.path, file.what})
	}
}

// need plans to make dir and the folders above it that are missing.
func (p *setupPlan) need(dir string, mode fs.FileMode) {
	var missing []folder
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, folder{dir, mode})
	}
	slices.Reverse(missing)
	for _, f := range missing {
		if !slices.ContainsFunc(p.folders, func(have folder) bool { return have.path == f.path }) {
			p.folders = append(p.folders, f)
			p.changes = append(p.changes, Change{created, f.path, "folder"})
		}
		if !slices.Contains(p.manifest.Folders, f.path) {
			p.manifest.Folders = append(p.manifest.Folders, f.path)
		}
	}
}

// pick returns the clients to connect: those named, else those found.
func (p *setupPlan) pick(m clientsettings.Machine) ([]clientsettings.Client, error) {
	all := m.Clients()
	var ids []string
	for _, c := range all {
		ids = append(ids, string(c.ID))
	}
	for _, name := range p.flags.clients {
		if !slices.Contains(ids, name) {
			return nil, schemas.Invalidf("there is no client %q", name).Expecting("%s",
				strings.Join(ids, ", ")).Try("run: cordelia setup --help")
		}
	}
	return slices.DeleteFunc(all, func(c clientsettings.Client) bool {
		if len(p.flags.clients) > 0 {
			return !slices.Contains(p.flags.clients, string(c.ID))
		}
		return !c.Installed
	}), nil
}

// entry is how clients start the server. A home that is not the usual one is
// named, because a client's environment need not be this one.
func (p *setupPlan) entry(userHome string) clientsettings.Entry {
	e := clientsettings.Entry{Command: p.binary.target, Args: []string{"mcp"}}
	if usual := filepath.Join(userHome, ".cordelia"); string(p.home) != usual {
		e.Args = append(e.Args, "--home", string(p.home))
	}
	return e
}

// planClients prepares every settings file, or refuses with all that stands in
// the way.
func (p *setupPlan) planClients(m clientsettings.Machine) error {
	chosen, err := p.pick(m)
	if err != nil {
		return err
	}
	var refused []schemas.Violation
	code, hint := schemas.CodeInvalid, schemas.Hint(nil)
	for _, c := range chosen {
		plan := p.planClient
		if c.Plugin != "" {
			plan = p.planPlugin
		}
		if err := plan(c, p.entry(m.Home)); err != nil {
			e, ok := errors.AsType[*schemas.Error](err)
			if !ok {
				return err
			}
			code, hint = e.Code, e.Hint
			refused = append(refused, schemas.Violation{Msg: e.Msg})
		}
	}
	if len(refused) > 0 {
		refusal := schemas.Errorf(code, "nothing was touched, because a client's settings cannot be edited").With(
			refused...)
		refusal.Hint = hint
		return refusal
	}
	if len(chosen) == 0 {
		p.notes = append(p.notes, "No client was found. When you have one, run setup again, or name it: --client "+
			"claude-code")
	}
	return nil
}

// connects notes that a client will start us.
func (p *setupPlan) connects(c clientsettings.Client) {
	p.connected, p.titles = append(p.connected, c.ID), append(p.titles, c.Title)
}

func (p *setupPlan) planClient(c clientsettings.Client, e clientsettings.Entry) error {
	file, err := clientsettings.ReadFile(c.Settings)
	if err != nil {
		return err
	}
	content, err := c.Connect(file.Content, e, p.flags.force)
	if err != nil {
		return err
	}
	p.connects(c)
	act := Changed
	switch {
	case !file.Exists:
		act = created
		p.need(filepath.Dir(file.Path), 0o700)
	case bytes.Equal(content, file.Content):
		act = Unchanged
	}
	what := "settings of " + c.Title
	if file.Real != file.Path {
		what += ", in " + file.Real
	}
	p.changes = append(p.changes, Change{act, file.Path, what})
	if act == Unchanged {
		return nil
	}
	if err := p.manifest.remember(c, file, content); err != nil {
		return err
	}
	p.edits = append(p.edits, settingsEdit{file, content})
	return nil
}
