package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// A node signs a checkpoint of its audit record when there are checkpointEntries
// new entries, or any and the newest checkpoint is checkpointAfter old. Its
// processes look checkpointSoon after their start, every checkpointLook, and when
// they end, also for entries of other processes: those may have been killed. The
// first waits for the end of a process that wrote, or a minute: it covers all a setup
// did, and looking leaves nothing behind.
const (
	checkpointEntries = 256
	checkpointAfter   = 10 * time.Minute
	checkpointSoon    = 200 * time.Millisecond
	checkpointLook    = time.Minute

	closingCheckpoint = 2 * time.Second // how long the end of a process waits for it
)

// Checkpoints is the folder of the node's checkpoints.
func (h Home) Checkpoints() string { return filepath.Join(string(h), "checkpoints") }

func (n *Node) checkpointSigner() events.CheckpointSigner {
	return events.CheckpointSigner{Key: n.key, Place: n.place, Dir: n.Home.Checkpoints(), Copies: n.checkpointDirs,
		Sync: n.durable}
}

// Checkpointed says which checkpoint is the newest.
type Checkpointed struct {
	Size   int64            `json:"size"` // audit entries it covers
	Root   string           `json:"root"` // base64
	At     string           `json:"at"`
	Node   schemas.EntityID `json:"node"`
	File   string           `json:"file"`
	Copies []string         `json:"copies"` // the files elsewhere that have it
	New    bool             `json:"new"`    // signed just now
	Text   string           `json:"checkpoint"`
}

// Checkpoint signs what the audit record is now, unless the newest checkpoint
// says that already. Only the person may ask. The entry of this very call is in
// it.
func (n *Node) Checkpoint(ctx context.Context, person access.Principal) (Checkpointed, error) {
	op := access.Op{Tool: "audit_checkpoint", Effect: access.Read, Human: true, InPerson: true}
	if err := n.Auth.Do(ctx, person, op, func(access.Grant) error { return nil }); err != nil {
		return Checkpointed{}, err
	}
	before, err := n.checkpointSigner().Newest()
	if err != nil {
		return Checkpointed{}, err
	}
	c, err := n.sign(ctx, sameAs)
	if c == nil {
		if err == nil {
			err = schemas.NotFoundf("the audit record is empty, so there is nothing to sign").Try(
				"call it again once something was done")
		}
		return Checkpointed{}, err
	}
	out := Checkpointed{Size: c.Size(), At: stampOf(c.At), Node: c.Node,
		File:   filepath.Join(n.Home.Checkpoints(), n.checkpointSigner().Name()),
		Copies: []string{}, New: before == nil || before.Text() != c.Text(), Text: c.Text()}
	out.Root = c.RootText()
	for _, dir := range n.checkpointDirs {
		there := n.checkpointSigner()
		there.Dir = dir
		if newest, e := there.Newest(); e == nil && newest != nil && newest.Text() == out.Text {
			out.Copies = append(out.Copies, filepath.Join(dir, there.Name()))
		}
	}
	return out, err
}

func stampOf(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339) }

// sign signs a checkpoint unless it is unwanted, and gives the newest.
func (n *Node) sign(ctx context.Context, unwanted func(*store.Tx, *events.Checkpoint) (bool,
	error)) (*events.Checkpoint, error) {
	look := func(f func(*store.Tx) error) error {
		return n.Look(ctx, "audit_checkpoint", func(g access.Grant) error { return f(g.Tx()) })
	}
	return n.checkpointSigner().Sign(ctx, look, unwanted)
}

// sameAs reports whether newest covers the record as it is.
func sameAs(tx *store.Tx, newest *events.Checkpoint) (bool, error) {
	entries, last, err := events.Head(tx)
	return entries == 0 || newest != nil && newest.Size() == entries && newest.Leaf == last, err
}

// notYet reports whether no checkpoint is due.
func notYet(tx *store.Tx, newest *events.Checkpoint) (bool, error) {
	same, err := sameAs(tx, newest)
	if same || err != nil || newest == nil {
		return same, err
	}
	entries, _, err := events.Head(tx)
	fresh := tx.Micros()-newest.At < checkpointAfter.Microseconds() && tx.Micros() >= newest.At
	return fresh && entries >= newest.Size() && entries-newest.Size() < checkpointEntries, err
}

// signServer signs the record in a server's database that a restore or a move has written.
func (h Home) signServer(ctx context.Context, s *store.Store, copies []string) error {
	place, err := s.Place(ctx)
	if err != nil {
		return err
	}
	return h.signAt(ctx, place, copies, func(see func(*store.Tx) error) error { return s.Read(ctx, see) })
}

// signFile is signServer of the home's file, which no process has open.
func (h Home) signFile(ctx context.Context, path string, copies []string) error {
	return h.signAt(ctx, "", copies, func(see func(*store.Tx) error) error {
		_, err := store.VerifyFile(ctx, path, see)
		return err
	})
}

// signAt signs the record that look shows. Where this machine has no node key yet, there is none
// to continue.
func (h Home) signAt(ctx context.Context, place string, copies []string,
	look func(func(*store.Tx) error) error) error {
	f, err := keys.LoadFile(h.NodeKey(), noPassphrase)
	if errors.Is(err, schemas.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Identity.Erase()
	signer := events.CheckpointSigner{Key: f.Identity, Place: place, Dir: h.Checkpoints(), Copies: copies, Sync: true}
	_, err = signer.Sign(ctx, look, sameAs)
	return err
}

// checkpointIfDue signs a checkpoint if one is due; the first of all only with
// first. It asks once without the lock.
func (n *Node) checkpointIfDue(ctx context.Context, first bool) error {
	newest, err := n.checkpointSigner().Newest()
	if err != nil || newest == nil && !first {
		return err
	}
	wait := false
	if err := n.Look(ctx, "audit_checkpoint", func(g access.Grant) (err error) {
		wait, err = notYet(g.Tx(), newest)
		return err
	}); err != nil || wait {
		return err
	}
	_, err = n.sign(ctx, notYet)
	return err
}

// checkpoints signs what is due, until ctx ends, and once more then.
func (n *Node) checkpoints(ctx context.Context) {
	next := time.NewTimer(checkpointSoon)
	defer next.Stop()
	for due := true; ; due = false {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingCheckpoint)
			defer cancel()
			if err := n.checkpointIfDue(last, n.Store.Wrote()); err != nil && !n.Store.Dropped() {
				slog.Warn("audit checkpoint", "err", err)
			}
			return
		case <-next.C:
			next.Reset(checkpointLook)
		}
		if err := n.checkpointIfDue(ctx, !due); err != nil && ctx.Err() == nil {
			slog.Warn("audit checkpoint", "err", err)
		}
	}
}

// CheckpointFiles are the files of checkpoints in folders, of all nodes that
// wrote there. A folder that is not there holds none.
func CheckpointFiles(folders ...string) ([]events.CheckpointFile, error) {
	var out []events.CheckpointFile
	for _, folder := range folders {
		paths := []string{folder}
		if info, err := os.Stat(folder); err != nil || info.IsDir() {
			if paths, err = filesIn(folder, events.CheckpointSuffix); err != nil {
				return nil, err
			}
		}
		for _, path := range paths {
			f, err := events.ReadCheckpoints(path)
			if err != nil {
				return nil, schemas.Errorf(schemas.CodeUnavailable, "%s cannot be read", path).
					Try("name the file or folder of checkpoints with --checkpoint").Because(err)
			}
			out = append(out, f)
		}
	}
	return out, nil
}
