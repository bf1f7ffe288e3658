//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// killed kills a server in the middle of writes, again and again, and counts
// what was acknowledged and is gone.
func (b *bench) killed(r rival) (string, error) {
	folder := filepath.Join(b.folder, "killed-"+r.name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	var keys []string
	for round := range 5 {
		c, err := r.open(folder)
		if err != nil {
			return "", err
		}
		timer := time.AfterFunc(time.Second,
			func() { c.cmd.Process.Kill() }) //nolint:errcheck // it may have ended by itself
		for {
			t := textAt(round*1_000_000 + len(keys))
			answer, _, err := c.ask(r.store([]text{t}))
			if err != nil {
				break // what was not acknowledged does not count
			}
			key, err := r.key(t, answer)
			if err != nil {
				return "", err
			}
			keys = append(keys, key)
		}
		timer.Stop()
		c.kill()
	}
	there, err := r.count(folder, keys)
	return fmt.Sprintf("%d / %d", len(keys), len(keys)-there), err
}

// count looks with a new process how many of keys are there.
func (r rival) count(folder string, keys []string) (int, error) {
	c, err := r.open(folder)
	if err != nil {
		return 0, err
	}
	defer c.kill()
	return r.have(c, keys)
}

// openAll starts the processes of a crowd, one after the other and with
// patience, because some servers cannot start while another has the store.
func (r rival) openAll(folder string) (list []*client, done func(), err error) {
	done = sync.OnceFunc(func() {
		for _, c := range list {
			c.kill()
		}
	})
	for range 4 {
		c, err := r.open(folder)
		for range 20 {
			if err == nil {
				break
			}
			time.Sleep(250 * time.Millisecond)
			c, err = r.open(folder)
		}
		if err != nil {
			return list, done, err
		}
		list = append(list, c)
	}
	return list, done, nil
}

// alone is said of a server that does not start while another has its store.
const alone = "does not start beside another"

// tally counts the answers that one of several processes got.
type tally struct {
	keys    []string
	refused int
}

// crowdWrites has processes write texts of their own at once.
func (b *bench) crowdWrites(r rival) (string, error) {
	const each = 250
	folder := filepath.Join(b.folder, "crowd-"+r.name)
	if _, err := r.record(folder); err != nil { // the store is there before several open it at once
		return "", err
	}
	crowd, done, err := r.openAll(folder)
	defer done()
	if err != nil {
		return alone, nil //nolint:nilerr // that is the result
	}
	list, err := atOnce(len(crowd), func(k int) (t tally, err error) {
		c := crowd[k]
		for i := range each {
			own := textAt(k*1_000_000 + i)
			answer, _, err := c.ask(r.store([]text{own}))
			if err != nil {
				if t.refused++; t.refused == 1 { // once, so that a refusal is never a secret
					fmt.Fprintf(os.Stderr, "  %s refused: %v\n", r.name, err)
				}
				continue
			}
			key, err := r.key(own, answer)
			if err != nil {
				return t, err
			}
			t.keys = append(t.keys, key)
		}
		return t, nil
	})
	if err != nil {
		return "", err
	}
	done() // what they hold must not keep others from looking
	var keys []string
	refused := 0
	for _, t := range list {
		keys, refused = append(keys, t.keys...), refused+t.refused
	}
	there, err := r.count(folder, keys)
	return fmt.Sprintf("%d / %d / %d", len(keys), refused, len(keys)-there), err
}

// crowdChanges has processes add to one record at once.
func (b *bench) crowdChanges(r rival) (string, error) {
	const each = 50
	folder := filepath.Join(b.folder, "changes-"+r.name)
	key, err := r.record(folder)
	if err != nil {
		return "", err
	}
	crowd, done, err := r.openAll(folder)
	defer done()
	if err != nil {
		return alone, nil //nolint:nilerr // that is the result
	}
	list, err := atOnce(len(crowd), func(k int) (t tally, err error) {
		c := crowd[k]
		for i := range each {
			mark := fmt.Sprintf("mark%dof%d", i, k)
			if err := r.revise(c, key, mark); err != nil {
				if t.refused++; t.refused == 1 { // once, so that a refusal is never a secret
					fmt.Fprintf(os.Stderr, "  %s refused: %v\n", r.name, err)
				}
				continue
			}
			t.keys = append(t.keys, mark)
		}
		return t, nil
	})
	if err != nil {
		return "", err
	}
	done() // as above
	c, err := r.open(folder)
	if err != nil {
		return "", err
	}
	defer c.kill()
	content, err := r.content(c, key)
	if err != nil {
		return "", err
	}
	there := map[string]bool{}
	for _, w := range strings.Fields(content) {
		there[w] = true
	}
	kept, refused, lost := 0, 0, 0
	for _, t := range list {
		refused += t.refused
		for _, mark := range t.keys {
			if kept++; !there[mark] {
				lost++
			}
		}
	}
	return fmt.Sprintf("%d / %d / %d", kept, refused, lost), nil
}

// record makes a store with one text and gives its key.
func (r rival) record(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	c, err := r.open(folder)
	if err != nil {
		return "", err
	}
	defer c.kill()
	t := textAt(99_999_999)
	answer, _, err := c.ask(r.store([]text{t}))
	if err != nil {
		return "", err
	}
	key, err := r.key(t, answer)
	return key, errors.Join(err, c.close())
}
