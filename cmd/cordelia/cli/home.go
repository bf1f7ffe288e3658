package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"cordelia/cmd/cordelia/config"
	"cordelia/cmd/cordelia/platform"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Place is the home folder of this run, refused where it is not named or not open to
// this user: what cannot be looked at is not gone.
func (a *App) Place() (node.Home, error) {
	if a.Home == "" {
		return "", schemas.Invalidf("your home folder is not known: HOME is empty").
			Try("set HOME, or name the folder with --home or CORDELIA_HOME")
	}
	home := node.Home(a.Home)
	for _, path := range []string{a.Home, home.HumanKey(), home.Database()} {
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrPermission) {
			return "", schemas.Deniedf("%s may not be read by this user%s", a.Home, ownerOf(a.Home)).
				Try("run as the user it belongs to, or name another folder with --home; look: ls -ld %s",
					Quoted(a.Home)).Because(err)
		}
	}
	return home, nil
}

// ownerOf says whose a folder is, where that can be seen.
func ownerOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil || platform.OwnedByMe(info) {
		return ""
	}
	return ": it belongs to " + platform.OwnerName(info)
}

// Gone refuses a home that has keys and no database.
func Gone(home node.Home) error {
	if kept, at := home.Moved(); kept != "" {
		return schemas.NotFoundf("the state of %s was moved to a PostgreSQL database on %s", home,
			at.Format("2006-01-02 15:04 UTC")).
			Try("name the address of that database: cordelia config set database ADDRESS; the file it was in is kept "+
				"as %s, and holds the state of that time", kept)
	}
	return schemas.NotFoundf("%s has keys, but its database is gone", home).
		Try("cordelia restore FILE, from a backup; or, if its state is in PostgreSQL, name the address in CORDELIA_DB " +
			"or the setting database; or, to begin anew: cordelia uninstall --purge, then cordelia setup")
}

// OpenUsed opens a node that has a user; it makes none.
func (a *App) OpenUsed(ctx context.Context) (*ops.Service, error) {
	home, err := a.Place()
	if err != nil {
		return nil, err
	}
	if !home.Fresh() {
		n, err := a.OpenNode(ctx)
		if err == nil {
			n.CheckWait = node.UntilChecked // the process ends with its command
		}
		return n, err
	}
	address, err := a.Database(home)
	if err != nil {
		return nil, err
	}
	if address != "" || Exists(home.Database()) {
		n, err := a.OpenNode(ctx)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(n.LostKey(ctx), n.Close()); err != nil {
			return nil, err
		}
	}
	return nil, a.NoHome()
}

// NoHome refuses a home that has no user yet.
func (a *App) NoHome() error {
	return schemas.NotFoundf("%s is no home of cordelia yet", a.Home).
		Try("run: cordelia setup; or name another folder with --home")
}

// NoDatabase refuses a home without a database file: it has no user yet, or its database is gone.
func (a *App) NoDatabase(home node.Home) error {
	if home.Fresh() {
		return a.NoHome()
	}
	return Gone(home)
}

// OpenNode opens the node in the home folder.
func (a *App) OpenNode(ctx context.Context) (*ops.Service, error) {
	d, err := node.ParseDurability(a.Durability)
	if err != nil {
		return nil, err
	}
	home, err := a.Place()
	if err != nil {
		return nil, err
	}
	c := node.Config{Home: home, Durability: d}
	if c.Database, err = a.Database(home); err != nil {
		return nil, err
	}
	if c.Database == "" && !c.Home.Fresh() && !Exists(c.Home.Database()) {
		return nil, Gone(home)
	}
	if err := config.Configure(&c); err != nil {
		return nil, err
	}
	Adjust(&c)
	if a.Tune != nil {
		a.Tune(&c)
	}
	return ops.Open(ctx, c)
}

// DatabaseVariable names the address of a PostgreSQL database in the environment.
const DatabaseVariable = config.DatabaseVariable

// Database is the address of the PostgreSQL database with the state of home: from the command
// line, else the environment, else the settings; "" = the state is in the home's file.
func (a *App) Database(home node.Home) (string, error) {
	if a.DB != "" {
		return a.DB, config.WithoutPassword(a.DB, "the address on the command line")
	}
	if address := os.Getenv(DatabaseVariable); address != "" {
		a.ownDB = address
		if err := os.Unsetenv(DatabaseVariable); err != nil { // what this process starts needs no password
			return "", fmt.Errorf("environment: %w", err)
		}
	}
	if a.ownDB != "" {
		return a.ownDB, nil
	}
	s, err := config.Read(home)
	if err != nil {
		return "", config.Unusable(home, err)
	}
	return s.Database, config.WithoutPassword(s.Database, config.DatabaseSetting)
}

// WorkingFolder is where a process works: the folder given, else the one it was
// started in. One that is gone by now is none.
func WorkingFolder(given string) (string, error) {
	if given != "" {
		return node.Folder(given)
	}
	dir, err := node.Folder(".")
	if err != nil {
		slog.Warn("this process has no folder: nothing it writes goes by one", "err", err)
		return "", nil
	}
	return dir, nil
}

// Exists reports whether something is at path, also a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// AbsoluteHome is the home folder of this run, wherever it was started.
func (a *App) AbsoluteHome() (node.Home, error) {
	home, err := a.Place()
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(string(home))
	if err != nil {
		return "", fmt.Errorf("home folder: %w", err)
	}
	return node.Home(dir), nil
}
