package events

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/internal/store/lock"
	"cordelia/schemas"
)

// CheckpointSigner signs checkpoints of a node and appends them to files that are not in
// the database, one per folder.
type CheckpointSigner struct {
	Key    keys.Identity
	Place  string   // of the record, as store.Place says it: each place has files of its own
	Dir    string   // the node's own folder, made as needed
	Copies []string // folders that get the same checkpoints, such as a mounted share
	Sync   bool     // a checkpoint counts when it is on the disk
}

// CheckpointSuffix ends the name of every file of checkpoints.
const CheckpointSuffix = ".checkpoints"

// Name is how the file of checkpoints is called in every folder.
func (n CheckpointSigner) Name() string {
	name := string(n.Key.ID())
	if n.Place != "" {
		name += placeMark + n.Place
	}
	return name + CheckpointSuffix
}

// Newest is the last checkpoint in its own file, nil if there is none.
func (n CheckpointSigner) Newest() (*Checkpoint, error) {
	return newestIn(filepath.Join(n.Dir, n.Name()))
}

// Sign signs what look sees now and keeps it, unless unwanted says no to the
// checkpoint that is the newest by then. Any number of processes may do so at
// once: they take turns, so that each checkpoint continues the one before. A
// kill leaves the checkpoint out of the last files, or a torn one, which readers
// pass over. The error of a copy does not undo the node's own.
func (n CheckpointSigner) Sign(ctx context.Context, look func(func(*store.Tx) error) error,
	unwanted func(tx *store.Tx, newest *Checkpoint) (bool, error)) (*Checkpoint, error) {
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return nil, unwritable(n.Dir, err)
	}
	release, err := lock.File(ctx, filepath.Join(n.Dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer release()
	newest, err := n.Newest()
	if err != nil {
		return nil, err
	}
	var c Checkpoint
	done := false
	if err := look(func(tx *store.Tx) error {
		if done, err = unwanted(tx, newest); done || err != nil {
			return err
		}
		c, err = Next(tx, newest, n.Key)
		return err
	}); err != nil {
		return newest, err
	}
	if done {
		if newest == nil {
			return nil, nil
		}
		return newest, n.catchUp()
	}
	if err := n.append(n.Dir, c); err != nil {
		return newest, err
	}
	var errs []error
	for _, dir := range n.Copies {
		errs = append(errs, n.copyTo(dir, c))
	}
	return &c, errors.Join(errs...)
}

// catchUp gives folders what they lack although nothing is signed: one was named, or
// mounted again, since. One whose newest is not among the node's own gets nothing: the
// node went back, which is to show.
func (n CheckpointSigner) catchUp() error {
	var errs []error
	for _, dir := range n.Copies {
		there, err := newestIn(filepath.Join(dir, n.Name()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		missing, known, err := n.after(there)
		if err == nil && known && len(missing) > 0 {
			err = n.append(dir, missing...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// after lists the node's own checkpoints that follow one, all of them if it is nil;
// known says that it is one of them.
func (n CheckpointSigner) after(c *Checkpoint) (list []Checkpoint, known bool, err error) {
	own, err := ReadCheckpoints(filepath.Join(n.Dir, n.Name()))
	if c == nil || err != nil {
		return own.List, err == nil, err
	}
	for i, o := range own.List {
		if o.id() == c.id() {
			return own.List[i+1:], true, nil
		}
	}
	return nil, false, nil
}

// append adds checkpoints to the file in dir. What a kill left of an earlier
// attempt gets an end first.
func (n CheckpointSigner) append(dir string, list ...Checkpoint) (err error) {
	path := filepath.Join(dir, n.Name())
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return unwritable(path, err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = unwritable(path, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if size := info.Size(); size > 0 {
		end := make([]byte, min(2, size))
		if _, err := f.ReadAt(end, size-int64(len(end))); err != nil {
			return err
		}
		if string(end) != "\n\n" {
			b.WriteString("\n\n")
		}
	}
	for _, c := range list {
		b.Write(c.raw)
		b.WriteByte('\n')
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	if !n.Sync {
		return nil
	}
	if err := f.Sync(); err != nil || info.Size() > 0 {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // only synced
	if err := folder.Sync(); err != nil && os.PathSeparator == '/' {
		return err
	}
	return nil
}

// copyTo gives the file in dir every checkpoint it lacks, c the last of them.
func (n CheckpointSigner) copyTo(dir string, c Checkpoint) error {
	there, err := newestIn(filepath.Join(dir, n.Name()))
	if err != nil {
		return err
	}
	missing := []Checkpoint{c}
	if there == nil || there.id() != c.After {
		list, known, err := n.after(there)
		if err != nil {
			return err
		}
		if known {
			missing = list
		}
	}
	return n.append(dir, missing...)
}

func unwritable(path string, err error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "checkpoints cannot be written to %s", path).
		Try("make the folder, or mount it; checkpoint_dirs in config.json names it").Because(err)
}

// CheckpointFile is what a file of checkpoints holds, in its order.
type CheckpointFile struct {
	Path string
	List []Checkpoint
	Torn int      // begun, and never finished: a process was killed
	Bad  []string // lines that are no checkpoint, or a changed one
}

// MaxCheckpointFile is how many bytes a file of checkpoints may have.
const MaxCheckpointFile = 1 << 30

// ReadCheckpoints reads a file of checkpoints.
func ReadCheckpoints(path string) (CheckpointFile, error) {
	out := CheckpointFile{Path: path}
	raw, err := readBounded(path, 0)
	if err == nil {
		out.scan(raw)
	}
	return out, err
}

// newestIn reads the last good checkpoint of a file, nil if there is none.
func newestIn(path string) (*Checkpoint, error) {
	raw, err := readBounded(path, 4*MaxCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoints: %w", err)
	}
	var end CheckpointFile
	end.scan(raw)
	if len(end.List) == 0 {
		return nil, nil
	}
	return &end.List[len(end.List)-1], nil
}

// readBounded reads a file, or its last bytes.
func readBounded(path string, last int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxCheckpointFile {
		return nil, fmt.Errorf("%s has %d bytes, more than checkpoints need", path, info.Size())
	}
	from := int64(0)
	if last > 0 && info.Size() > last {
		from = info.Size() - last
	}
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}

const recordStart = "cordelia/"

// scan reads the checkpoints in raw. Each begins with a line of its origin.
func (f *CheckpointFile) scan(raw []byte) {
	text := "\n" + string(raw)
	parts := strings.Split(text, "\n"+recordStart)
	for i, p := range parts[1:] {
		p = recordStart + strings.TrimRight(p, "\n") + "\n"
		body, signature, signed := strings.Cut(p, "\n\n— ")
		line, rest, _ := strings.Cut(signature, "\n")
		if signed {
			p = body + "\n\n— " + line + "\n"
		}
		c, err := ParseCheckpoint([]byte(p))
		switch {
		case err == nil:
			f.List = append(f.List, c)
		case !signed || len(line)+1 < signatureSize:
			f.Torn++
		default:
			f.Bad = append(f.Bad, fmt.Sprintf("number %d of %s: %v", i+1, f.Path, err))
		}
		if rest = strings.Trim(rest, "\n"); rest != "" && strings.HasPrefix(recordStart, rest) {
			f.Torn++
		} else if rest != "" {
			f.Bad = append(f.Bad, fmt.Sprintf("number %d of %s: something follows it", i+1, f.Path))
		}
	}
	if strings.Trim(parts[0], "\n") != "" && len(parts) == 1 {
		f.Bad = append(f.Bad, f.Path+" holds no checkpoints")
	}
}

// signatureSize is the length of a signature's line: origin, blank, and 68 bytes
// in base64, and the end of the line.
const signatureSize = len(recordStart) + 64 + 1 + 92 + 1
