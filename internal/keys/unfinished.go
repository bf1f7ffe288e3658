package keys

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// unfinished is the name of a key file that is being made.
const unfinished = ".new-key-*"

// deadAfter is far longer than a process needs to make a key file: that takes milliseconds. A
// process that was stopped for longer finds its file gone and says so; it loses only a key that
// is not in use yet.
const deadAfter = time.Hour

// Unfinished is a file that a process left which was killed while it made a key file.
type Unfinished struct {
	Path string
	Dead bool // nothing would be lost with it: half a file, or a second name of a key file
}

// FindUnfinished lists what was left in a folder an hour or more before now. Files that
// are not the user's own, or open to others, are not listed: no process of theirs made those.
func FindUnfinished(folder string, now time.Time) ([]Unfinished, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(folder, err)
	}
	var list []Unfinished
	for _, e := range entries {
		if !isUnfinished(e) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		info, err := os.Lstat(path)
		if err != nil || now.Sub(info.ModTime()) < deadAfter {
			continue
		}
		raw, err := readFile(path)
		if err != nil {
			continue
		}
		list = append(list, Unfinished{Path: path, Dead: !json.Valid(raw) || named(folder, entries, info)})
		clear(raw)
	}
	return list, nil
}

// DropUnfinished removes the dead files that FindUnfinished lists, and no other.
func DropUnfinished(folder string, now time.Time) error {
	list, err := FindUnfinished(folder, now)
	for _, u := range list {
		if u.Dead {
			err = errors.Join(err, removeFile(u.Path))
		}
	}
	return err
}

// named reports whether a file has a finished name, too, in its folder.
func named(folder string, entries []os.DirEntry, file fs.FileInfo) bool {
	for _, e := range entries {
		if isUnfinished(e) {
			continue
		}
		if other, err := os.Lstat(filepath.Join(folder, e.Name())); err == nil && os.SameFile(file, other) {
			return true
		}
	}
	return false
}

func isUnfinished(e os.DirEntry) bool {
	ok, _ := filepath.Match(unfinished, e.Name()) //nolint:errcheck // the pattern is a constant
	return ok
}

// dropOpenLinks removes what killed processes left of making the key file at path: links to it
// as it was, which would keep the key without its passphrase. They are no longer needed once
// path is there.
func dropOpenLinks(path string, key fileJSON) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return unwritable(path, err)
	}
	for _, e := range entries {
		if !isUnfinished(e) {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		left, err := header(name)
		if err != nil || left.EntityID != key.EntityID || left.KeySeq != key.KeySeq {
			continue // another's, perhaps of a process that is at it
		}
		if err := removeFile(name); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a temporary file (mode 0600) and links it to path: unlike a
// rename, a link fails if path exists.
func writeNew(folder, path string, raw []byte) error {
	tmp, err := os.CreateTemp(folder, unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		return err
	}
	// Before the sync, which makes it last. Another process may have cleared it away.
	if err := os.Remove(tmp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(folder)
}
