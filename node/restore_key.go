package node

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// restoredKeys says which key files the home has after a restore.
type restoredKeys struct {
	person string    // the file to copy to the place of the person's key, "" if that is there
	agent  *standing // the agent of the clients, as the restored database knows it; nil if there is none
	stale  bool      // the key file of that agent's place is of an agent that the restored database does not know
}

// findPerson opens the person's key: the file that --key names, else that of this home, if
// there is one.
func (r *restoring) findPerson() error {
	if r.o.Key != "" {
		return r.openKey(r.o.Key)
	}
	if err := r.openKey(r.home.HumanKey()); !errors.Is(err, schemas.ErrNotFound) {
		return err
	}
	return nil
}

func (r *restoring) openKey(path string) error {
	var ask func() ([]byte, error)
	if r.o.Ask != nil {
		ask = func() ([]byte, error) { return r.o.Ask(path) }
	}
	f, err := keys.LoadFile(path, ask)
	if err == nil {
		r.opened = append(r.opened, f)
	}
	return err
}

// close overwrites the keys that were opened, and closes the server's database.
func (r *restoring) close() {
	if r.server != nil {
		r.server.Close() //nolint:errcheck // what was written is acknowledged
	}
	for _, f := range r.opened {
		f.Identity.Erase()
	}
}

// openedKey gives the opened key file with this public key, nil if none has it.
func (r *restoring) openedKey(public []byte) *keys.File {
	for i := range r.opened {
		if bytes.Equal(r.opened[i].Identity.PublicKey(), public) {
			return &r.opened[i]
		}
	}
	return nil
}

// allowed refuses a restore over a database whose person's present key was not opened.
func (r *restoring) allowed(present *store.Tx) error {
	all, err := standings(present)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !s.human || s.node != "" || r.openedKey(s.public) != nil {
			continue
		}
		// With --key the home's own key proves whose the present database is.
		if r.o.Key != "" && holdsKey(r.home.HumanKey(), s.public) {
			if err := r.openKey(r.home.HumanKey()); err != nil {
				return err
			}
			if r.openedKey(s.public) != nil {
				continue
			}
		}
		return schemas.Deniedf("the database here belongs to %s, whose key is not in this home", s.ID).
			Try("restore with the key file of %s in place, or into another folder with --home", s.ID)
	}
	return nil
}

// choosePersonKeys decides which key file the home needs so that the restored database
// opens: tx has the person's key as it will be. It refuses where no key file at hand fits.
func (r *restoring) choosePersonKeys(tx *store.Tx) error {
	r.keys = restoredKeys{}
	all, err := standings(tx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.human && s.node == "" {
			if err := r.choosePersonKey(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// chooseAgentKey decides about the key file of the agent that clients act as, for a home
// whose database was another's.
func (r *restoring) chooseAgentKey(backup *store.Tx) error {
	all, err := standings(backup)
	if err != nil {
		return err
	}
	head, err := keys.ReadHeader(r.home.DefaultAgentKey())
	r.keys.stale = err == nil
	for i, s := range all {
		if err == nil && s.ID == head.EntityID {
			r.keys.stale = false
		}
		if s.Name == defaultAgent && s.typ == schemas.ClaudeCode && s.parent == s.root && s.Status != schemas.Removed {
			r.keys.agent = &all[i]
		}
	}
	return nil
}

// choosePersonKey finds the key file of the person s: --key, else the home's, else the one
// beside the backup.
func (r *restoring) choosePersonKey(s standing) error {
	aside := humanKeyOf(r.o.Backup)
	switch {
	case holdsKey(r.home.HumanKey(), s.public):
	case r.o.Key != "" && r.openedKey(s.public) != nil:
		r.keys.person = r.o.Key
	case r.o.Key == "" && missing(r.home.HumanKey()) && holdsKey(aside, s.public):
		r.keys.person = aside
	default:
		return r.noKey(s, aside)
	}
	if r.o.Key != "" && r.openedKey(s.public) == nil {
		return schemas.Deniedf("%s is not the key file of %s", r.o.Key, s.ID).
			Try("leave --key out: the key file in this home is the right one")
	}
	return nil
}

// whichFile says behind a command what FILE in it is.
const whichFile = ", with FILE the keys/human.key of the home the backup was made in"

// keptFile says what FILE is where the person's key was replaced after the backup.
const keptFile = "; a backup from before a cordelia key rotate needs the key of that time, kept beside it as "

// noKey words that no key file opens what would be restored, and what to do.
func (r *restoring) noKey(s standing, aside string) error {
	what := fmt.Sprintf("the key file of this home is not the key of %s, who owns this backup", s.ID)
	again := "cordelia restore "
	if r.o.AcceptBackup {
		again += "--accept-state-of-backup "
	}
	given := r.home.HumanKey()
	switch {
	case r.o.Key != "":
		given = r.o.Key
		what = fmt.Sprintf("%s is not the key that %s, who owns this backup, has in it", given, s.ID)
	case missing(given):
		what = fmt.Sprintf("this home has no key of %s, who owns this backup", s.ID)
	}
	right := r.keyBeside(given, s)
	try := fmt.Sprintf("%s--key FILE %s%s", again, r.o.Backup, whichFile)
	switch {
	case r.o.Key == "" && holdsKey(aside, s.public):
		try = fmt.Sprintf("%s--key %s %s", again, aside, r.o.Backup)
	case right != "":
		what += fmt.Sprintf(": the backup has key number %d", s.seq)
		if filepath.Base(right) != filepath.Base(r.home.HumanKey()) {
			what += ", from before a cordelia key rotate"
		}
		try = fmt.Sprintf("%s--key %s %s", again, right, r.o.Backup)
	default:
		if head, err := keys.ReadHeader(given); err != nil || int64(head.KeySeq) > s.seq {
			try += keptFile + filepath.Base(keys.OldFile(r.home.HumanKey(), uint32(s.seq)))
		}
	}
	return schemas.Deniedf("%s; nothing was written", what).
		Expecting("the person's key as the backup has it: no other key opens the restored home").
		Try("%s", try)
}

// keyBeside finds the key of the person s where a rotation put or left it: in the folder of another
// key file, "" if it is not there.
func (r *restoring) keyBeside(path string, s standing) string {
	now := filepath.Join(filepath.Dir(path), filepath.Base(r.home.HumanKey()))
	for _, file := range []string{keys.OldFile(path, uint32(s.seq)), keys.OldFile(now, uint32(s.seq)), now} {
		if holdsKey(file, s.public) {
			return file
		}
	}
	return ""
}

// aside is where a key file of this home is kept that a restore replaces.
func (r *restoring) aside(path string) string {
	clock := r.o.Clock
	if clock == nil {
		clock = store.SystemClock{}
	}
	return path + ".before-restore-" + clock.Now().UTC().Format("20060102T150405.000000Z")
}

// wouldPutPersonKey says in a dry run what putPersonKey would do.
func (r *restoring) wouldPutPersonKey() {
	if r.keys.person == "" {
		return
	}
	if r.out.HumanKey = r.home.HumanKey(); !missing(r.out.HumanKey) {
		r.out.KeysKept = append(r.out.KeysKept, r.aside(r.out.HumanKey))
	}
}

// putPersonKey copies the chosen key file of the person into its place.
func (r *restoring) putPersonKey() error {
	if r.keys.person == "" {
		return nil
	}
	path := r.home.HumanKey()
	aside := r.aside(path)
	replaced, err := keys.InstallFile(r.keys.person, path, aside)
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable,
			"the database is restored, and your key file is not in its place yet").
			Try("see to the folder %s, then repeat the command", r.home).Because(err)
	}
	if replaced {
		r.out.KeysKept = append(r.out.KeysKept, aside)
	}
	r.out.HumanKey = path
	return nil
}

// putAgentKey writes the key file of the agent that clients act as, if it is missing, from
// its sealed key, and sets aside that of an agent which the restored database does not know.
func (r *restoring) putAgentKey() error {
	path := r.home.DefaultAgentKey()
	if r.keys.stale {
		aside := r.aside(path)
		if err := keys.SetAside(path, aside); err != nil {
			return err
		}
		r.out.KeysKept = append(r.out.KeysKept, aside)
	}
	s := r.keys.agent
	if s == nil || s.sealed == nil || !missing(path) {
		return nil
	}
	for _, f := range r.opened {
		identity, err := keys.Open(f.Identity, s.sealed)
		if err != nil {
			continue
		}
		defer identity.Erase()
		if !bytes.Equal(identity.PublicKey(), s.public) {
			break
		}
		file := keys.File{EntityID: s.ID, Kind: keys.Agent, KeySeq: uint32(s.seq), CreatedAt: time.Now(),
			Identity: identity}
		if err := keys.CreateFile(path, file, nil); err != nil {
			return err
		}
		r.out.AgentKey = path
		return nil
	}
	r.out.Notes = append(r.out.Notes,
		fmt.Sprintf("the key file of %s is not on this machine; run: cordelia key unwrap %s", s.Name, s.Name))
	return nil
}
