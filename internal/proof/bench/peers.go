//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pinned by name and by content.
var (
	//go:embed peers/package.json
	peerPackages []byte
	//go:embed peers/package-lock.json
	peerLock []byte
)

// A text is what is remembered, under a key that the caller or the server gave.
type text struct{ key, words string }

// textAt is the i-th text of every store: 28 words and one that no other text has.
func textAt(i int) text {
	return text{fmt.Sprintf("note%07d", i), strings.Join(newNotes(uint64(i)).words(28), " ") + fmt.Sprintf(" n%dk", i)}
}

// tail is the end of a text, by which an answer that shows the text is known.
func (t text) tail() string {
	w := strings.Fields(t.words)
	return strings.Join(w[len(w)-2:], " ")
}

// A rival is a memory server over stdio, written to and searched as its documentation says.
type rival struct {
	name    string
	about   string // what it does besides, and how it was used
	version string // that its stores are good for
	batch   int    // texts one call may store
	open    func(folder string) (*client, error)
	store   func(list []text) (tool string, args any)
	grow    func(folder string, from, until int) error  // faster than store, into the same file; may be nil
	key     func(t text, answer string) (string, error) // of a stored text
	search  func(query string) (tool string, args any)
	have    func(c *client, keys []string) (int, error) // how many of keys are there
	revise  func(c *client, key, value string) error    // adds value to one record
	content func(c *client, key string) (string, error)
}

// ask calls a tool and gives the words of its answer.
func (c *client) ask(tool string, args any) (string, time.Duration, error) {
	line, took, err := c.roundTrip(c.request(tool, args))
	if err != nil {
		return "", took, err
	}
	words, err := wordsOf(line)
	if err != nil {
		return "", took, fmt.Errorf("%s: %w", tool, err)
	}
	return words, took, nil
}

// wordsOf is the text of an answer.
func wordsOf(line []byte) (string, error) {
	if err := decode(line, nil); err != nil {
		return "", err
	}
	var r struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range r.Result.Content {
		b.WriteString(c.Text)
	}
	return b.String(), nil
}

// rivals are the node and every peer that could be installed; missing says of
// each other one why not.
func (b *bench) rivals() (list []rival, missing []string, err error) {
	if _, err := b.tables(); err != nil {
		return nil, nil, err
	}
	list = []rival{b.asRival()}
	modules, err := b.install()
	if skip, ok := errors.AsType[*skipped](err); ok {
		return list, []string{skip.why}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, r := range []rival{serverMemory(modules), memoryLibSQL(modules), memoryKeeper(modules)} {
		trial, err := os.MkdirTemp(b.folder, "trial-")
		if err != nil {
			return nil, nil, err
		}
		c, err := r.open(trial)
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s does not start here, so it was not measured: %s", r.name,
				strings.SplitN(err.Error(), "\n", 2)[0]))
			continue
		}
		c.kill()
		list = append(list, r)
	}
	return list, missing, nil
}

// install puts the pinned peers into the cache, once for each lock file.
func (b *bench) install() (modules string, err error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", &skipped{"there is no " + name + " to run the peers with; only the node was measured"}
		}
	}
	sum := sha256.Sum256(slices.Concat(peerPackages, peerLock))
	folder := filepath.Join(b.cache, "peers-"+hex.EncodeToString(sum[:6]))
	modules = filepath.Join(folder, "node_modules")
	done := filepath.Join(folder, "installed")
	if _, err := os.Stat(done); err == nil {
		return modules, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{"package.json": peerPackages, "package-lock.json": peerLock} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", err
		}
	}
	fmt.Fprintln(os.Stderr, "  installing the peers")
	if out, err := npm(folder, "ci", "--ignore-scripts"); err != nil {
		return "", &skipped{fmt.Sprintf("the peers cannot be installed, only the node was measured: %v: %s", err,
			lastLine(out))}
	}
	// The one native module that comes as source; a peer that needs it and does
	// not get it does not start, and that is said.
	if out, err := npm(folder, "rebuild", "better-sqlite3"); err != nil {
		fmt.Fprintf(os.Stderr, "  better-sqlite3 cannot be built: %v: %s\n", err, lastLine(out))
		return modules, nil
	}
	return modules, os.WriteFile(done, nil, 0o600)
}

func npm(folder string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append(args, "--no-audit", "--no-fund", "--loglevel=error")...)
	cmd.Dir = folder
	return cmd.CombinedOutput()
}

func lastLine(out []byte) string {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return string(lines[len(lines)-1])
}
