//go:build unix

package scenario

import (
	bigendian "encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a socket between nodes and a PostgreSQL server. It counts what the nodes ask, and
// can make each answer late, as a network does.
type wire struct {
	server string // its socket
	delay  time.Duration
	gone   atomic.Bool // answers under way arrive no more

	mu        sync.Mutex
	exchanges int
	asked     map[string]int // how often, by the statements of one exchange
}

const socketName = ".s.PGSQL.5432"

var hostPattern = regexp.MustCompile(`host=(\S+)`)

// newWire puts one before the database at address, and gives the address to use instead. It
// ends with the test.
func newWire(t testing.TB, address string, delay time.Duration) (w *wire, instead string) {
	t.Helper()
	host := hostPattern.FindStringSubmatch(address)
	require.True(t, host != nil && filepath.IsAbs(host[1]), "the test's server has a socket to stand before")
	folder, err := os.MkdirTemp("", "wire") // the name of a socket must be short
	require.NoError(t, err)
	listener, err := net.Listen("unix", filepath.Join(folder, socketName))
	require.NoError(t, err)
	require.NoError(t, os.Chmod(folder, 0o755)) // a server runs as another user
	require.NoError(t, os.Chmod(filepath.Join(folder, socketName), 0o777))
	w = &wire{server: filepath.Join(host[1], socketName), delay: delay, asked: map[string]int{}}
	t.Cleanup(func() {
		listener.Close()     //nolint:errcheck // only a test
		os.RemoveAll(folder) //nolint:errcheck // only a test
	})
	go func() {
		for {
			node, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(node)
		}
	}()
	return w, hostPattern.ReplaceAllLiteralString(address, "host="+folder)
}

// carry connects a node with the server until one of them ends.
func (w *wire) carry(node net.Conn) {
	defer node.Close() //nolint:errcheck // only a test
	server, err := net.Dial("unix", w.server)
	if err != nil {
		return
	}
	go func() {
		w.answers(node, server)
		node.Close() //nolint:errcheck // only a test
	}()
	w.questions(server, node)
	server.Close() //nolint:errcheck // only a test
}

// questions hands on what the node sends, and counts it.
func (w *wire) questions(server io.Writer, node io.Reader) {
	c := counter{wire: w, statements: map[string]string{}}
	buffer := make([]byte, 64<<10)
	for {
		n, err := node.Read(buffer)
		if err == nil {
			_, err = server.Write(buffer[:n])
		}
		if err != nil {
			return
		}
		c.read(buffer[:n])
	}
}

// counter finds what a node asks in the bytes that it sends.
type counter struct {
	*wire
	pending    []byte // of a message that is not whole yet
	begun      bool   // all but the first message begin with their type
	statements map[string]string
	texts      []string // since the last wait
}

func (c *counter) read(more []byte) {
	c.pending = append(c.pending, more...)
	for {
		head := 0
		if c.begun {
			head = 1
		}
		if len(c.pending) < head+4 {
			return
		}
		end := head + int(bigendian.BigEndian.Uint32(c.pending[head:]))
		if len(c.pending) < end {
			return
		}
		if c.begun {
			c.message(c.pending[0], c.pending[head+4:end])
		}
		c.pending, c.begun = c.pending[end:], true
	}
}

func (c *counter) message(kind byte, body []byte) {
	first, rest, _ := strings.Cut(string(body), "\x00")
	second, _, _ := strings.Cut(rest, "\x00")
	switch kind {
	case 'P': // parse: a name and the text
		c.statements[first] = second
		c.texts = append(c.texts, "prepare "+second)
	case 'B': // bind: a portal and the statement's name
		c.texts = append(c.texts, c.statements[second])
	case 'Q':
		c.note(append(c.texts, first))
		c.texts = nil
	case 'S': // sync: it waits for the answers
		c.note(c.texts)
		c.texts = nil
	}
}

// answers hands on what the server sends, after the delay.
func (w *wire) answers(node io.Writer, server io.Reader) {
	type late struct {
		data []byte
		due  time.Time
	}
	queue := make(chan late, 1024)
	go func() {
		defer close(queue)
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if n > 0 {
				queue <- late{slices.Clone(buffer[:n]), time.Now().Add(w.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for l := range queue {
		time.Sleep(time.Until(l.due))
		if w.gone.Load() {
			continue
		}
		if _, err := node.Write(l.data); err != nil {
			continue // until the server notices
		}
	}
}

var spaces = regexp.MustCompile(`\s+`)

func (w *wire) note(texts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(texts, " ; ")
	if w.asked[text]++; text != "ROLLBACK" && !strings.HasPrefix(text, "NOTIFY") { // which no call waits for
		w.exchanges++
	}
}

// reset begins to count anew.
func (w *wire) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchanges, w.asked = 0, map[string]int{}
}

// times is how often a node asked and waited for the answer.
func (w *wire) times() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.exchanges
}

// list tells what was asked at least once in each of so many operations, on average, with
// how often in one.
func (w *wire) list(operations int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := slices.SortedFunc(maps.Keys(w.asked), func(a, b string) int { return w.asked[b] - w.asked[a] })
	var out strings.Builder
	for _, text := range texts {
		if each := float64(w.asked[text]) / float64(operations); each >= 0.1 {
			fmt.Fprintf(&out, "%5.1f  %.110s\n", each, spaces.ReplaceAllString(text, " "))
		}
	}
	return out.String()
}
