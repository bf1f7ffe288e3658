package setup

import (
	"os"
	"path/filepath"
	"slices"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/clientsettings"
	"cordelia/plugin"
	"cordelia/schemas"
)

// planPluginFile removes a file of the plugin, also if it was changed: setup wrote the whole
// file.
func (u *undoing) planPluginFile(c clientsettings.Client, t Touched) {
	if temp := clientsettings.TempName(t.Path); cli.Exists(temp) {
		u.add(Removed, temp, "left by a killed run", func() error { return os.Remove(temp) })
	}
	what := "the plugin of " + c.Title
	file, err := clientsettings.ReadFile(t.Path)
	switch {
	case err != nil:
		u.add(kept, t.Path, what+", which cannot be read", nil)
		u.stuck = append(u.stuck, schemas.Violation{Msg: schemas.MessageOf(err)})
	case t.original(file):
		if t.Existed {
			u.add(Unchanged, t.Path, what+", as before setup", nil)
		}
	case t.Existed:
		u.add(restored, t.Path, what+", byte for byte", func() error { return file.Replace(t.Before) })
	default:
		u.add(Removed, t.Path, what, file.Remove)
	}
}

// planLostPlugin removes a plugin of ours that is in no record of setup. A folder behind a link
// stays: the user keeps it elsewhere.
func (u *undoing) planLostPlugin(c clientsettings.Client) {
	if linked(c.Plugin) {
		return
	}
	manifest := c.Manifest()
	file, err := clientsettings.ReadFile(manifest.Settings)
	if err != nil || !file.Exists {
		return
	}
	found, err := manifest.Find(file.Content)
	if err != nil || !found.Ours {
		return
	}
	folders := []string{c.Plugin}
	for _, f := range plugin.Files(plugin.Program{}) {
		path := filepath.Join(c.Plugin, filepath.FromSlash(f.Path))
		u.planPluginFile(c, Touched{Client: c.ID, Path: path, Plugin: true})
		for dir := filepath.Dir(path); dir != c.Plugin; dir = filepath.Dir(dir) {
			if !slices.Contains(folders, dir) {
				folders = append(folders, dir)
			}
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range folders {
		u.planFolder(dir)
	}
}
