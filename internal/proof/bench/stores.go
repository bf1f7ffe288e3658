//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// smallest is the store that every other one grows from.
const smallest = 1000

// sizes are the stores of a run, each ten times the one before.
func (b *bench) sizes() (list []int) {
	for size := smallest; size <= b.items; size *= 10 {
		list = append(list, size)
	}
	return list
}

// large is the size of what is measured on one store alone.
func (b *bench) large() int { return min(b.items, 100_000) }

// store gives a part a new node with size items in the group "team".
func (b *bench) store(size int, name string) (*node, error) {
	return b.storeOf("node", size, name, func(c *client, _ *node, at, until int) error {
		return fill(c, newNotes(uint64(until)), at, until, "team")
	})
}

// storeOf is store for a kind of items: grow writes those from at to until.
func (b *bench) storeOf(kind string, size int, name string,
	grow func(c *client, n *node, at, until int) error) (*node, error) {
	shape, err := b.tables()
	if err != nil {
		return nil, err
	}
	from, err := b.template(shape, kind, size, func(folder string, at, until int) error {
		n := &node{binary: b.binary, home: folder}
		c, err := n.open("")
		if err != nil {
			return err
		}
		defer c.kill()
		if at == 0 {
			if err := gather(c, "team"); err != nil {
				return err
			}
		}
		if err := grow(c, n, at, until); err != nil {
			return err
		}
		if err := n.awaitVectors(); err != nil {
			return err
		}
		return c.close()
	})
	if err != nil {
		return nil, err
	}
	n := &node{binary: b.binary, home: filepath.Join(b.folder, name)}
	if err := copyFolder(from, n.home); err != nil {
		return nil, err
	}
	held, err := n.held()
	if err == nil && held != size {
		err = fmt.Errorf("the store for %d items holds %d", size, held)
	}
	return n, err
}

// bareStore gives a part a new bare database with as many rows.
func (b *bench) bareStore(size int, name string) (*bare, error) {
	shape, err := b.tables()
	if err != nil {
		return nil, err
	}
	from, err := b.template(shape, "bare", size, func(folder string, at, until int) error {
		f, err := openBare(filepath.Join(folder, "bare.db"), uint64(until))
		if err != nil {
			return err
		}
		f.n = at
		if err := f.fill(until - at); err != nil {
			return errors.Join(err, f.close())
		}
		return f.close()
	})
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.folder, name)
	if err := copyFolder(from, folder); err != nil {
		return nil, err
	}
	f, err := openBare(filepath.Join(folder, "bare.db"), uint64(size)+1)
	if err == nil {
		f.n = size
	}
	return f, err
}

// template is a folder that grow brought from the next smaller template, which
// holds at items, to size. It is made once and kept for later runs, with those
// of the same shape. The smaller ones are made by the same grow.
func (b *bench) template(shape, kind string, size int, grow func(folder string, at, until int) error) (string, error) {
	folder := filepath.Join(b.cache, "stores", shape, fmt.Sprintf("%s-%d", kind, size))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	making := filepath.Join(b.folder, "making-"+kind)
	if err := os.RemoveAll(making); err != nil {
		return "", err
	}
	at := 0
	if size > smallest {
		at = size / 10
		from, err := b.template(shape, kind, at, grow)
		if err != nil {
			return "", err
		}
		if err := copyFolder(from, making); err != nil {
			return "", err
		}
	} else if err := os.MkdirAll(making, 0o700); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "  growing %s from %d to %d items\n", kind, at, size)
	if err := grow(making, at, size); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return "", err
	}
	err := os.Rename(making, folder)
	if errors.Is(err, fs.ErrExist) { // another run was faster
		err = nil
	}
	return folder, err
}

// tables names the shape of the database, so that a store of another shape is
// never taken for one of this.
func (b *bench) tables() (string, error) {
	if b.schema != "" {
		return b.schema, nil
	}
	f, err := openBare(filepath.Join(b.folder, "tables", "bare.db"), 0)
	if err != nil {
		return "", err
	}
	defer f.close() //nolint:errcheck // only read
	var sql string
	row := f.db.QueryRow(`SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL
		ORDER BY type, name)`)
	if err := row.Scan(&sql); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(sql))
	b.schema = hex.EncodeToString(sum[:6])
	return b.schema, nil
}

// copyFolder copies the regular files below from; sockets stay behind.
func copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, path[len(from):])
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close() //nolint:errcheck // only read
		out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	})
}
