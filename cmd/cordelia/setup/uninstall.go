package setup

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/clientsettings"
	"cordelia/node"
	"cordelia/schemas"
)

// uninstallFlags are the flags of uninstall.
type uninstallFlags struct {
	purge, yes, dryRun bool
}

// UninstallCommand is the command uninstall.
func UninstallCommand(a *cli.App) *cobra.Command {
	var f uninstallFlags
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Undo setup; keys and memories stay unless --purge",
		Long: `Put back every file that setup wrote, byte for byte where it has not changed
since; where it has, take out only our entry. Removes the program that setup
installed. Keys and memories stay, unless --purge deletes them for good, with the
secrets of webhooks. Your settings, config.json, stay.`,
		Args: cli.Wants(0),
		RunE: func(*cobra.Command, []string) error { return uninstall(a, f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.purge, "purge", false, "also delete the keys, the secrets of webhooks and the database")
	fl.BoolVar(&f.yes, "yes", false, "do not ask before a purge")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print what would be done and touch nothing")
	return cmd
}

// step is one thing uninstall does; do is nil where there is nothing to do.
type step struct {
	Change
	do     func() error
	folder bool // removed only if it is empty by then
}

func uninstall(a *cli.App, f uninstallFlags) error {
	home, err := a.AbsoluteHome()
	if err != nil {
		return err
	}
	u := &undoing{home: string(home), purge: f.purge}
	if u.file, u.manifest, err = ReadManifest(home); err != nil {
		return err
	}
	if err := u.plan(); err != nil {
		return err
	}
	if !f.dryRun {
		if err := confirmPurge(a, u, f); err != nil {
			return err
		}
		for _, s := range u.steps {
			if s.do == nil {
				continue
			}
			if err := s.do(); err != nil {
				return err
			}
		}
		u.lookAtFolders()
	}
	return reportUninstall(a, u, f)
}

// confirmPurge asks, and makes sure that no process works with what goes.
func confirmPurge(a *cli.App, u *undoing, f uninstallFlags) error {
	if !u.purges {
		return nil
	}
	if !f.yes {
		fmt.Fprintf(a.ErrOut, "This deletes all keys and memories in %s for good. Type purge to go on: ", u.home)
		line, err := cli.Answer(a, func() (string, error) { return bufio.NewReader(a.In).ReadString('\n') })
		if err != nil {
			fmt.Fprintln(a.ErrOut) // no answer ended the line
		}
		if strings.TrimSpace(line) != "purge" {
			return schemas.Deniedf("not confirmed; nothing was touched").Try(
				"type purge when asked, or: cordelia uninstall --purge --yes").Because(err)
		}
	}
	free, err := LockFree(filepath.Join(u.home, "cordelia.db.inuse"))
	if err != nil {
		return err
	}
	if !free {
		return schemas.Errorf(schemas.CodeBusy, "cordelia processes use the database; nothing was touched").
			Try("end your clients' sessions and cordelia serve, then repeat: cordelia uninstall --purge")
	}
	return nil
}

func reportUninstall(a *cli.App, u *undoing, f uninstallFlags) error {
	var changes []Change
	for _, s := range u.steps {
		changes = append(changes, s.Change)
	}
	if a.AsJSON {
		if err := a.PrintJSON(map[string]any{"dry_run": f.dryRun, "changes": append([]Change{}, changes...),
			"notes": append([]string{}, u.notes...)}); err != nil {
			return err
		}
	} else {
		if f.dryRun {
			fmt.Fprintln(a.Out, "Dry run, nothing was touched. Uninstall would do this:")
		}
		printChanges(a, changes)
		if len(changes) == 0 {
			fmt.Fprintln(a.Out, "Nothing of cordelia's setup is here.")
		}
		for _, n := range u.notes {
			fmt.Fprintf(a.Out, "\n%s\n", n)
		}
	}
	if len(u.stuck) > 0 {
		return schemas.Invalidf("not everything could be put back").With(u.stuck...).
			Try("mend these files in an editor, then repeat: cordelia uninstall")
	}
	return nil
}

// undoing is a run of uninstall.
type undoing struct {
	home     string
	purge    bool
	purges   bool // there is something to purge
	file     manifestFile
	manifest Manifest

	steps []step
	stuck []schemas.Violation
	notes []string
}

func (u *undoing) add(act Action, path, what string, do func() error) {
	u.steps = append(u.steps, step{Change: Change{act, path, what}, do: do})
}

// plan lists the steps in an order that a kill may interrupt anywhere: the
// manifest, which the rest is known from, goes last.
func (u *undoing) plan() error {
	if err := u.planSettings(); err != nil {
		return err
	}
	for _, path := range u.manifest.Binaries {
		u.planBinary(path)
	}
	folders := slices.Clone(u.manifest.Folders)
	slices.Reverse(folders)
	u.planRemains()
	if err := u.notePrinted(); err != nil {
		return err
	}
	if u.purge {
		u.planPurge()
	}
	// Folders above the home go after it.
	late := func(dir string) bool {
		return strings.HasPrefix(u.home+string(filepath.Separator), dir+string(filepath.Separator))
	}
	for _, dir := range folders {
		if !late(dir) {
			u.planFolder(dir)
		}
	}
	u.planManifest()
	if u.purge {
		for _, dir := range folders {
			if late(dir) {
				u.planFolder(dir)
			}
		}
	}
	return nil
}

// planSettings undoes what setup wrote, and also takes out entries that it did
// not write or whose record is lost: they would start a program that is gone.
func (u *undoing) planSettings() error {
	m, err := Machine()
	if err != nil {
		return err
	}
	var recorded []string
	for _, t := range u.manifest.Files {
		for _, c := range m.Clients() {
			if c.ID != t.Client {
				continue
			}
			recorded = append(recorded, t.Path)
			if t.Plugin {
				u.planPluginFile(c, t)
				continue
			}
			if t.Rule {
				c, _ = c.Permissions()
			}
			c.Settings = t.Path
			u.planSetting(c, t)
		}
	}
	for _, c := range m.Clients() {
		if c.Plugin != "" && !slices.Contains(recorded, c.Manifest().Settings) {
			u.planLostPlugin(c)
		}
		if !slices.Contains(recorded, c.Settings) {
			u.planSetting(c, Touched{Client: c.ID, Path: c.Settings, Existed: true, EntryOnly: true})
		}
	}
	return nil
}

func (u *undoing) planSetting(c clientsettings.Client, t Touched) {
	if temp := clientsettings.TempName(c.Settings); cli.Exists(temp) {
		u.add(Removed, temp, "left by a killed run", func() error { return os.Remove(temp) })
	}
	file, err := clientsettings.ReadFile(c.Settings)
	if err != nil {
		u.cannot(c, err)
		return
	}
	what := "settings of " + c.Title
	switch {
	case !file.Exists:
		return
	case t.original(file):
		u.add(Unchanged, c.Settings, what+", as before setup", nil)
		return
	case !t.EntryOnly && t.ours(file) && !t.Existed:
		u.add(Removed, c.Settings, what+", which setup made", file.Remove)
		return
	case !t.EntryOnly && t.ours(file):
		u.add(restored, c.Settings, what+", byte for byte", func() error { return file.Replace(t.Before) })
		return
	}
	before := t.Before
	if len(before) == 0 {
		before = []byte("{}") // there was no file, or nothing in it
	}
	if t.EntryOnly {
		before = nil
	}
	content, err := c.Disconnect(file.Content, before)
	switch {
	case err != nil:
		u.cannot(c, err)
	case string(content) == string(file.Content):
		u.add(Unchanged, c.Settings, what+", which hold no entry of ours", nil)
	case !t.Existed && strings.TrimSpace(strings.Trim(strings.TrimSpace(string(content)), "{}")) == "":
		u.add(Removed, c.Settings, what+", which setup made and which hold nothing else", file.Remove)
	default:
		u.add(Changed, c.Settings, what+": only our entry taken out, for the file has changed since setup",
			func() error { return file.Replace(content) })
	}
}

// cannot notes settings that are not in order: they stay, and the rest goes on.
func (u *undoing) cannot(c clientsettings.Client, err error) {
	u.add(kept, c.Settings, "settings of "+c.Title+", which cannot be edited", nil)
	u.stuck = append(u.stuck, schemas.Violation{Msg: schemas.MessageOf(err)})
}

func (u *undoing) planBinary(path string) {
	if temp := clientsettings.TempName(path); cli.Exists(temp) {
		u.add(Removed, temp, "left by a killed run", func() error { return os.Remove(temp) })
	}
	switch {
	case !cli.Exists(path):
	case !IsCordelia(path):
		u.add(kept, path, "the program, which is not cordelia any more", nil)
	default:
		u.add(Removed, path, "the program", func() error { return os.Remove(path) })
	}
}

// notePrinted names the completions and the manual page, which are the user's own files.
func (u *undoing) notePrinted() error {
	m, err := Machine()
	if err != nil {
		return err
	}
	var left []string
	for _, path := range printedFiles(m.Home) {
		if cli.Exists(path) {
			left = append(left, cli.Quoted(path))
		}
	}
	if len(left) > 0 {
		u.notes = append(u.notes, "Completions and manual page stay, as you put them there. To delete them: rm "+
			strings.Join(left, " "))
	}
	return nil
}

// planRemains removes what a killed setup left beside the home folder.
func (u *undoing) planRemains() {
	if fresh := clientsettings.TempName(u.home); cli.Exists(fresh) {
		u.add(Removed, fresh, "left by a killed run", func() error { return os.RemoveAll(fresh) })
	}
}

// planPurge removes the keys, the secrets of webhooks and the database. Files in the folder that
// cordelia did not make stay.
func (u *undoing) planPurge() {
	home := node.Home(u.home)
	gone := func(what string, paths ...string) {
		for _, path := range paths {
			if cli.Exists(path) {
				u.purges = true
				u.add(Removed, path, what, func() error { return os.RemoveAll(path) })
			}
		}
	}
	escaped := node.Home(globEscape(u.home))
	gone("keys and memories", matching(filepath.Join(string(escaped), "cordelia.db*"))...)
	gone("keys and memories", filepath.Join(u.home, "keys"), home.Checkpoints(), home.DeepNote())
	gone("the secret of a webhook", matching(escaped.HookSecret("*"))...)
	u.planFolder(filepath.Dir(home.HookSecret("")))
}

// matching lists the files that fit a pattern.
func matching(pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil // the pattern is escaped: a defect would keep the files
	}
	return paths
}

// globEscape makes every character of path stand for itself.
func globEscape(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// planFolder removes a folder if it is empty by then.
func (u *undoing) planFolder(path string) {
	if cli.Exists(path) && !linked(path) {
		u.addFolder(path, func() error {
			os.Remove(path) //nolint:errcheck // not empty: the user's files stay
			return nil
		})
	}
}

// planManifest removes the manifest; where data stays, it keeps what a later
// purge needs.
func (u *undoing) planManifest() {
	if temp := clientsettings.TempName(u.file.Path); cli.Exists(temp) {
		u.add(Removed, temp, "left by a killed run", func() error { return os.Remove(temp) })
	}
	if u.purge && (u.file.Exists && !u.manifest.HomeExisted || !u.file.Exists && u.purges) {
		u.addFolder(u.home, u.removeHome)
		return
	}
	if !u.file.Exists {
		return
	}
	if u.purge {
		u.add(Removed, u.file.Path, "the record of setup", u.file.Remove)
		return
	}
	u.notes = append(u.notes, "Your keys and memories stay in "+u.home+". To delete them too, without the program: rm -r "+
		cli.Quoted(u.home))
	rest := Manifest{Version: manifestVersion, HomeExisted: u.manifest.HomeExisted}
	rest.Folders = slices.DeleteFunc(slices.Clone(u.manifest.Folders), func(dir string) bool {
		return !strings.HasPrefix(u.home+string(filepath.Separator), dir+string(filepath.Separator))
	})
	// Settings that could not be put back are still to be.
	rest.Files = slices.DeleteFunc(slices.Clone(u.manifest.Files), func(t Touched) bool {
		return !slices.ContainsFunc(u.steps, func(s step) bool { return s.Action == kept && s.Path == t.Path })
	})
	if act := u.file.action(rest); act != Unchanged {
		u.add(act, u.file.Path, "the record of setup", func() error { return u.file.save(rest) })
	}
}
