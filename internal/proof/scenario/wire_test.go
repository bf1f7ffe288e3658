//go:build unix

package scenario

import (
	"bufio"
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
	w.questions(server, bufio.NewReader(node))
	server.Close() //nolint:errcheck // only a test
}

// questions hands on what the node sends, and counts it.
func (w *wire) questions(server io.Writer, node *bufio.Reader) {
	statements, texts := map[string]string{}, []string{}
	for typed := false; ; typed = true {
		kind := byte(0)
		var raw []byte
		if typed { // all but the first message begin with their type
			var err error
			if kind, err = node.ReadByte(); err != nil {
				return
			}
			raw = append(raw, kind)
		}
		var size [4]byte
		if _, err := io.ReadFull(node, size[:]); err != nil {
			return
		}
		body := make([]byte, max(4, bigendian.BigEndian.Uint32(size[:]))-4)
		if _, err := io.ReadFull(node, body); err != nil {
			return
		}
		if _, err := server.Write(append(append(raw, size[:]...), body...)); err != nil {
			return
		}
		first, rest, _ := strings.Cut(string(body), "\x00")
		second, _, _ := strings.Cut(rest, "\x00")
		switch kind {
		case 'P': // parse: a name and the text
			statements[first] = second
			texts = append(texts, "prepare "+second)
		case 'B': // bind: a portal and the statement's name
			texts = append(texts, statements[second])
		case 'Q':
			w.note(append(texts, first))
			texts = nil
		case 'S': // sync: it waits for the answers
			w.note(texts)
			texts = nil
		}
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
		for {
			buffer := make([]byte, 64<<10)
			n, err := server.Read(buffer)
			if n > 0 {
				queue <- late{buffer[:n], time.Now().Add(w.delay)}
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
	text := strings.TrimSpace(spaces.ReplaceAllString(strings.Join(texts, " ; "), " "))
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
			fmt.Fprintf(&out, "%5.1f  %.110s\n", each, text)
		}
	}
	return out.String()
}
