package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/clientsettings"
	"cordelia/plugin"
	"cordelia/schemas"
)

// planPlugin prepares every file of the plugin, and takes out what would keep its server
// from starting.
func (p *setupPlan) planPlugin(c clientsettings.Client, e clientsettings.Entry) error {
	mine, err := p.ownsPlugin(c)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, f := range plugin.Files(PluginOf(e)) {
		path := filepath.Join(c.Plugin, filepath.FromSlash(f.Path))
		wanted[path] = true
		if err := p.planPluginFile(c, path, f.Content, mine); err != nil {
			return err
		}
	}
	for _, t := range slices.Clone(p.manifest.Files) { // of another version's plugin
		if t.Plugin && t.Client == c.ID && strings.HasPrefix(t.Path, c.Plugin+string(filepath.Separator)) &&
			!wanted[t.Path] {
			if err := p.dropPluginFile(t); err != nil {
				return err
			}
		}
	}
	p.connects(c)
	if err := p.planDouble(c); err != nil {
		return err
	}
	return p.planRule(c)
}

// planRule adds the rule that lets the client call the plugin's tools without asking, or
// says how to.
func (p *setupPlan) planRule(c clientsettings.Client) error {
	rules, ok := c.Permissions()
	if !ok {
		return nil
	}
	file, err := clientsettings.ReadFile(rules.Settings)
	if err != nil {
		return err
	}
	found, err := rules.Find(file.Content)
	switch {
	case !p.flags.allow && (err != nil || found.Present):
		return nil // settings that setup does not edit need not be in order
	case err != nil:
		return err
	case !p.flags.allow:
		p.notes = append(p.notes, c.Title+
			" asks before each of cordelia's tools, and refuses them where it cannot ask you (claude -p).\nTo allow "+
			"them: cordelia setup --allow\nIt adds the rule "+
			clientsettings.Rule+" to "+rules.Settings+".")
		return nil
	}
	act := Changed
	switch {
	case !file.Exists:
		act = created
		p.need(filepath.Dir(file.Path), 0o700)
	case found.Present:
		act = Unchanged
	}
	p.changes = append(p.changes, Change{act, file.Path,
		"permissions of " + c.Title + ": the rule " + clientsettings.Rule})
	if act == Unchanged {
		return nil
	}
	content, err := rules.Connect(file.Content, clientsettings.Entry{}, false)
	if err != nil {
		return err
	}
	if err := p.manifest.remember(rules, file, content); err != nil {
		return err
	}
	for i := range p.manifest.Files {
		p.manifest.Files[i].Rule = p.manifest.Files[i].Rule || p.manifest.Files[i].Path == file.Path
	}
	p.edits = append(p.edits, settingsEdit{file, content})
	return nil
}

// PluginOf is what the plugin starts for an entry: this program's files and version.
func PluginOf(e clientsettings.Entry) plugin.Program {
	return plugin.Program{Path: e.Command, More: e.Args[1:], Release: cli.Release()}
}

// ownsPlugin reports whether the plugin's folder is cordelia's, of any version. A folder behind
// a link is not: the user keeps it elsewhere, such as in a checkout.
func (p *setupPlan) ownsPlugin(c clientsettings.Client) (bool, error) {
	if linked(c.Plugin) {
		_, err := os.Stat(c.Plugin)
		if err != nil {
			_, err = clientsettings.ReadFile(c.Plugin) // which says where it leads
		}
		return false, err
	}
	manifest := c.Manifest()
	file, err := clientsettings.ReadFile(manifest.Settings)
	if err != nil || !file.Exists {
		return false, err
	}
	// A damaged manifest tells nothing: the record says whose each file is.
	found, err := manifest.Find(file.Content)
	return err == nil && found.Ours, nil
}

// linked reports whether path itself is a link.
func linked(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

func (p *setupPlan) planPluginFile(c clientsettings.Client, path string, content []byte, mine bool) error {
	file, err := clientsettings.ReadFile(path)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.manifest.Files, func(t Touched) bool { return t.Path == path })
	act := Changed
	switch {
	case !file.Exists:
		act = created
		p.need(filepath.Dir(path), 0o700)
	case bytes.Equal(file.Content, content):
		act = Unchanged
	case i < 0 && !mine && !p.flags.force:
		return schemas.Conflictf("%s is there, and setup did not write it", path).
			Try("move it away, or replace it with: cordelia setup --force")
	}
	p.changes = append(p.changes, Change{act, path, "the plugin of " + c.Title})
	switch {
	case i >= 0:
		p.manifest.Files[i].After = Sum(content)
	case file.Exists && !mine: // not ours; with --force or by chance it has the same content
		p.manifest.Files = append(p.manifest.Files, Touched{Client: c.ID, Path: path, Existed: true,
			Before: file.Content, Plugin: true, After: Sum(content)})
	default:
		p.manifest.Files = append(p.manifest.Files, Touched{Client: c.ID, Path: path, Plugin: true,
			After: Sum(content)})
	}
	if act != Unchanged {
		p.edits = append(p.edits, settingsEdit{file, content})
	}
	return nil
}

// dropPluginFile takes away what the plugin does not hold any more. The record stays for
// uninstall, which finds it done.
func (p *setupPlan) dropPluginFile(t Touched) error {
	file, err := clientsettings.ReadFile(t.Path)
	if err != nil || !file.Exists || t.Existed {
		return err
	}
	p.changes = append(p.changes, Change{Removed, t.Path, "not in the plugin any more"})
	p.edits = append(p.edits, settingsEdit{file: file})
	return nil
}

// planDouble takes an entry of ours, which an earlier setup or a person made, out of the
// settings: with it Claude Code would not start the plugin's server.
func (p *setupPlan) planDouble(c clientsettings.Client) error {
	file, err := clientsettings.ReadFile(c.Settings)
	if err != nil {
		return err
	}
	found, err := c.Find(file.Content)
	if err != nil || !found.Present || !c.Doubles(found.Entry) {
		return err
	}
	var before []byte
	i := slices.IndexFunc(p.manifest.Files, func(t Touched) bool { return t.Path == file.Path })
	if i >= 0 && !p.manifest.Files[i].EntryOnly {
		if before = p.manifest.Files[i].Before; len(before) == 0 {
			before = []byte("{}")
		}
	}
	content, err := c.Disconnect(file.Content, before)
	if err != nil {
		return err
	}
	if i >= 0 {
		p.manifest.Files[i].After = Sum(content)
	} else {
		p.manifest.Files = append(p.manifest.Files, Touched{Client: c.ID, Path: file.Path, Existed: true,
			Before: file.Content, After: Sum(content)})
	}
	p.changes = append(p.changes, Change{Changed, file.Path,
		"settings of " + c.Title + ": the entry cordelia taken out, the plugin starts the server"})
	p.edits = append(p.edits, settingsEdit{file, content})
	return nil
}
