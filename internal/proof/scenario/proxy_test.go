//go:build unix

package scenario

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// way is what a proxy does with what it is sent.
type way int

const (
	passing way = iota
	frozen      // holds it back
	cut         // ends all connections and takes none
)

// proxy stands between a node and a server.
type proxy struct {
	folder string // of its socket
	mu     sync.Mutex
	way    way
	ends   map[net.Conn]bool
}

// newProxy makes one for the server whose socket is in the folder.
func newProxy(t testing.TB, server string) *proxy {
	const socket = ".s.PGSQL.5432"
	folder, err := os.MkdirTemp("", "cordelia-proxy") // a socket's path is short
	require.NoError(t, err)
	p := &proxy{folder: folder, ends: map[net.Conn]bool{}}
	l, err := net.Listen("unix", filepath.Join(folder, socket))
	require.NoError(t, err)
	t.Cleanup(func() {
		l.Close() //nolint:errcheck // only a test
		p.is(cut)
		require.NoError(t, os.RemoveAll(folder))
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("unix", filepath.Join(server, socket))
			if err != nil || !p.takes(client, db) {
				client.Close() //nolint:errcheck // refused
				continue
			}
			go p.pass(client, db)
			go p.pass(db, client)
		}
	}()
	return p
}

// takes notes a connection's two ends, unless the proxy takes none.
func (p *proxy) takes(ends ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range ends {
		if p.way == cut {
			c.Close() //nolint:errcheck // refused
			continue
		}
		p.ends[c] = true
	}
	return p.way != cut
}

// pass hands on what one end sends.
func (p *proxy) pass(from, to net.Conn) {
	defer from.Close() //nolint:errcheck // its end
	defer to.Close()   //nolint:errcheck // its end
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		for p.now() == frozen {
			time.Sleep(10 * time.Millisecond)
		}
		if _, bad := to.Write(buf[:n]); bad != nil || err != nil {
			return
		}
	}
}

func (p *proxy) now() way {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.way
}

// is changes what the proxy does.
func (p *proxy) is(next way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.way = next
	if next == cut {
		for c := range p.ends {
			c.Close() //nolint:errcheck // cut off
			delete(p.ends, c)
		}
	}
}
