package node

import (
	"context"
	"errors"
	"os"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/trust"
)

// RestoreOptions of Restore.
type RestoreOptions struct {
	Backup string // file that Backup wrote
	// Database is the address of the PostgreSQL database to restore; "" = the file of the home.
	Database string
	Key      string // the person's key file, where this home has none or another's; "" = that of the home
	DryRun   bool
	// AcceptBackup takes the rights as they are in the backup where the present
	// database cannot say what was revoked since.
	AcceptBackup   bool
	CheckpointDirs []string                          // as of Config
	Ask            func(file string) ([]byte, error) // for the passphrase of a key file of the person
	Clock          store.Clock
}

// Present says what a restore learned from the database it replaces.
type Present string

const (
	CarriedOver Present = "carried_over" // its rights stay in force
	Absent      Present = events.NoDatabase
	Unreadable  Present = "unreadable"
	Unrelated   Present = "unrelated" // of another node
)

// RestoreReport says what a restore did, or with DryRun would do.
type RestoreReport struct {
	store.RestoreReport
	Present        Present               `json:"present"`
	AuditEntries   int64                 `json:"audit_entries"` // in the backup
	ForkAt         int64                 `json:"fork_at"`       // last audit entry the backup and the present share
	Carried        []Carried             `json:"carried"`
	Suspended      []string              `json:"suspended"`                     // known to the backup alone
	Lost           []string              `json:"lost"`                          // known to the present alone
	SuspendedRoles []roles.SuspendedRole `json:"suspended_roles,omitempty"`     // roles that come back suspended
	Withdrawn      int                   `json:"withdrawn_questions,omitempty"` // questions of roles
	NoSecret       []string              `json:"no_secret,omitempty"`           // webhooks without a secret here
	HumanKey       string                `json:"human_key,omitempty"`           // where the person's is
	KeysKept       []string              `json:"keys_kept,omitempty"`           // of another node, replaced
	AgentKey       string                `json:"agent_key,omitempty"`           // where that of the clients' agent is
	Notes          []string              `json:"notes"`
}

// Carried is what one entity keeps of the present state.
type Carried struct {
	Name string   `json:"name"`
	What []string `json:"what"`
}

// Restore puts a backup in the place of home's database. It must not bring back
// what was revoked (INV-RESTORE): every entity keeps the status, rights,
// memberships, keys and verdicts it has in the present database, and roles their charters;
// agents and roles the present does not know come back suspended, all tokens and
// challenges end, the epoch moves, and the fork is recorded in the audit record. Only the
// person of the present database may do it; where there is none that can be read, AcceptBackup must
// say that nothing is known of revocations since. It refuses before it writes
// anything where the home would be left with a key that does not open it.
func Restore(ctx context.Context, home Home, o RestoreOptions) (RestoreReport, error) {
	r := restoring{home: home, o: o, out: RestoreReport{Carried: []Carried{}, Suspended: []string{}, Lost: []string{},
		Notes: []string{}}}
	defer r.close()
	if err := r.findPerson(); err != nil {
		return r.out, err
	}
	if o.Database != "" {
		if err := r.openServer(ctx); err != nil {
			return r.out, err
		}
		r.dropCopy() // of a killed restore
		defer r.dropCopy()
	}
	// what refuses does so before anything is written
	if _, err := store.VerifyFile(ctx, o.Backup, func(backup *store.Tx) error {
		return r.withPresent(ctx, func(present *store.Tx) error {
			_, err := r.plan(present, backup)
			return err
		})
	}); err != nil {
		return r.out, err
	}
	var err error
	r.out.RestoreReport, err = store.Restore(ctx, store.RestoreOptions{
		Backup: o.Backup, Target: r.target(), DryRun: o.DryRun, Clock: o.Clock,
		Verify: func(tx *store.Tx) error {
			_, _, err := verifyAudit(tx)
			return err
		},
		Prepare: r.prepare,
	})
	if o.DryRun && r.inUse(err) {
		err = nil
	}
	if o.Database != "" {
		r.inUse(r.busy)
		r.out.Target = ServerPlace
		if err == nil && !o.DryRun {
			err = r.intoServer(ctx)
		}
	}
	if err == nil && o.DryRun {
		r.wouldPutPersonKey()
	}
	if err != nil || o.DryRun {
		return r.out, err
	}
	if err := r.checkpoint(ctx); err != nil {
		r.out.Notes = append(r.out.Notes,
			"the restored audit record has no checkpoint yet; the next process signs one: "+err.Error())
	}
	return r.out, errors.Join(r.putPersonKey(), r.putAgentKey())
}

// inUse notes that other processes use the database, if that is why err came after all was
// looked at: a dry run has done its work by then.
func (r *restoring) inUse(err error) bool {
	if r.out.Backup.Path == "" || schemas.CodeOf(err) != schemas.CodeBusy {
		return false
	}
	r.out.Notes = append(r.out.Notes,
		"other cordelia processes use the database: before the restore, end the running agents' sessions and "+
			"cordelia serve")
	return true
}

// restoring is one restore under way.
type restoring struct {
	home   Home
	o      RestoreOptions
	opened []keys.File // the person's key files that were opened
	keys   restoredKeys
	out    RestoreReport

	server *store.Store // the present one, nil if it is a file or has no tables
	place  string       // of the server's record
	busy   error        // in a dry run: other nodes use it
}

// withPresent runs f on the present database, nil if there is none to be read,
// which the person must have accepted.
func (r *restoring) withPresent(ctx context.Context, f func(*store.Tx) error) error {
	if r.o.Database != "" {
		return r.withServer(ctx, f)
	}
	path := r.home.Database()
	looked := false
	_, err := store.VerifyLive(ctx, path, func(tx *store.Tx) error { // agents work while a dry run looks
		looked = true
		return f(tx)
	})
	if looked {
		return err
	}
	why := "the present database cannot be read, so what was revoked since the backup is unknown"
	r.out.Present = Unreadable
	if _, statErr := os.Stat(path); errors.Is(statErr, os.ErrNotExist) {
		why = "there is no present database, so what was revoked since the backup is unknown"
		r.out.Present = Absent
	} else if schemas.CodeOf(err) == schemas.CodeBusy {
		return err
	}
	if err := r.accept(why); err != nil {
		return err
	}
	return f(nil)
}

func (r *restoring) accept(why string) error {
	if r.o.AcceptBackup {
		return nil
	}
	key, where := "", ""
	switch {
	case r.o.Key != "":
		key = "--key " + r.o.Key + " "
	case missing(r.home.HumanKey()) && missing(humanKeyOf(r.o.Backup)):
		key, where = "--key FILE ", whichFile
	}
	return schemas.Deniedf("%s", why).
		Expecting("your decision that each agent in the backup gets the rights it had then").
		Try("look first: cordelia restore --dry-run %s--accept-state-of-backup %s%s", key, r.o.Backup, where)
}

// prepare changes the restored database before another process can open it.
func (r *restoring) prepare(ctx context.Context, fresh *store.Store) error {
	n := &Node{Home: r.home, Store: fresh, Auth: access.New(fresh, access.Config{})}
	return r.withPresent(ctx, func(present *store.Tx) error {
		return n.Routine(ctx, events.RestoreAction, func(g access.Grant) error {
			p, err := r.plan(present, g.Tx())
			if err != nil {
				return err
			}
			if present != nil {
				r.signLeft(ctx, present)
			}
			return p.apply(g, n)
		})
	})
}

// signLeft signs the record that is about to be left. If the last restore was killed, no
// checkpoint tells of it yet, and the backup cannot: without one, what was signed before that
// restore would look tampered with.
func (r *restoring) signLeft(ctx context.Context, present *store.Tx) {
	if err := r.home.signAt(ctx, r.place, r.o.CheckpointDirs,
		func(see func(*store.Tx) error) error { return see(present) }); err != nil {
		r.out.Notes = append(r.out.Notes,
			"the end of the audit record before this restore lacks a checkpoint: "+err.Error())
	}
}

// restorePlan is what to change in a backup so that it brings back no right.
type restorePlan struct {
	report    *RestoreReport
	person    schemas.EntityID // who restores, "" where no key was opened
	epoch     int64
	standings []carriedStanding
	roles     []membership // as they are to be; an empty role ends it
	closed    []closedGroup
	trust     trust.Addition
	bindings  []memory.Bound // of the present, if it is carried over
	decisions memory.Decisions
	charters  roles.RestorePlan
	cancelled []string                  // work
	head      []byte                    // last audit hash of the present
	entries   int64                     // and its number
	laterKeys map[schemas.EntityID]bool // people whose key is that of the backup
}

// carriedStanding is an entity as it is to be, and as the backup has it.
type carriedStanding struct {
	now, was standing
	keys     []oldKey // all it ever had, if the present's key is taken
}

// plan compares the two databases. present is nil where there is none.
func (r *restoring) plan(present, backup *store.Tx) (restorePlan, error) {
	p := restorePlan{report: &r.out, laterKeys: map[schemas.EntityID]bool{}}
	if len(r.opened) > 0 {
		p.person = r.opened[0].EntityID
	}
	r.out.Carried, r.out.Suspended, r.out.Lost, r.out.Notes = []Carried{}, []string{}, []string{}, []string{}
	r.out.SuspendedRoles, r.out.Withdrawn, r.out.NoSecret = nil, 0, nil
	sources, err := roles.Sources(backup)
	if err != nil {
		return p, err
	}
	for _, s := range sources {
		if _, err := os.Stat(r.home.HookSecret(s)); err != nil {
			r.out.NoSecret = append(r.out.NoSecret, s)
		}
	}
	if r.out.AuditEntries, err = auditLength(backup); err != nil {
		return p, err
	}
	if present != nil {
		if r.out.ForkAt, err = forkAt(present, backup); err != nil {
			return p, err
		}
		if err := p.readHead(present); err != nil {
			return p, err
		}
		if r.out.Present = CarriedOver; r.out.ForkAt == 0 {
			r.out.Present = Unrelated
			if err := r.accept(
				"the present database is of another node, so what was revoked since the backup is unknown"); err != nil {
				return p, err
			}
		}
		if err := r.allowed(present); err != nil {
			return p, err
		}
	}
	if r.out.Present != CarriedOver {
		r.out.ForkAt = r.out.AuditEntries
		return p, errors.Join(r.choosePersonKeys(backup), r.chooseAgentKey(backup))
	}
	err = p.carry(present, backup)
	keyed := present
	if len(p.laterKeys) > 0 {
		keyed = backup
	}
	return p, errors.Join(r.choosePersonKeys(keyed), err)
}

// checkpoint signs the restored record, so that the newest checkpoint tells of the fork.
func (r *restoring) checkpoint(ctx context.Context) error {
	if r.server != nil {
		return r.home.signServer(ctx, r.server, r.o.CheckpointDirs)
	}
	return r.home.signFile(ctx, r.out.Target, r.o.CheckpointDirs)
}
