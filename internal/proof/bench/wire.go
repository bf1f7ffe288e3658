//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"cordelia/internal/keys"
)

// modern is the stateless protocol, in which every request stands alone.
const modern = "2026-07-28"

// served is a server over HTTP, ours or the empty one, as a child process.
type served struct {
	cmd  *exec.Cmd
	host string
}

var listening = regexp.MustCompile(`http://([0-9.:]+)/mcp`)

// serve starts a server and waits until it tells its address on out.
func serve(cmd *exec.Cmd, out func() (io.ReadCloser, error)) (*served, error) {
	r, err := out()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &served{cmd: cmd}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if m := listening.FindStringSubmatch(line); m != nil {
			s.host = m[1]
			go io.Copy(io.Discard, lines) //nolint:errcheck // ends with the process
			return s, nil
		}
		if err != nil {
			s.stop()
			return nil, fmt.Errorf("%s did not start to serve: %w: %s", cmd.Path, err, line)
		}
	}
}

func (s *served) stop() {
	s.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	s.cmd.Wait()         //nolint:errcheck // it was killed
}

// serve serves the node over HTTP on a free port.
func (n *node) serve() (*served, error) {
	cmd := exec.Command(n.binary, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(cmd.Environ(), n.env()...)
	return serve(cmd, cmd.StderrPipe)
}

// token proves to the server that this machine holds an agent's key.
func (n *node) token(s *served, id string) (string, error) {
	file, err := keys.LoadFile(filepath.Join(n.home, "keys", "agents", id+".key"),
		func() ([]byte, error) { return nil, nil })
	if err != nil {
		return "", err
	}
	defer file.Identity.Erase()
	var challenge struct {
		Message, Nonce []byte
		Expires        int64
	}
	if err := post(s.host, "/auth/challenge", map[string]any{"agent_id": file.EntityID}, &challenge); err != nil {
		return "", err
	}
	var issued struct{ Token string }
	err = post(s.host, "/auth/token", map[string]any{
		"agent_id": file.EntityID, "nonce": challenge.Nonce, "expires": challenge.Expires,
		"signature": base64.StdEncoding.EncodeToString(file.Identity.Sign(challenge.Message)),
	}, &issued)
	return issued.Token, err
}

func post(host, path string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	at := url.URL{Scheme: "http", Host: host, Path: path}
	resp, err := http.Post(at.String(), "application/json", bytes.NewReader(raw))
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, resp.Status, body)
	}
	return json.Unmarshal(body, out)
}

// wire is one connection over HTTP, and as little of a client as can be:
// requests are bytes made beforehand.
type wire struct {
	host, token string
	conn        net.Conn
	r           *bufio.Reader
}

func dial(host, token string) (*wire, error) {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &wire{host: host, token: token, conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (w *wire) close() { w.conn.Close() } //nolint:errcheck // nothing is under way

// request encodes one request with its headers; name is the tool of tools/call.
func (w *wire) request(method, name string, params map[string]any) []byte {
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    modern,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil { // of values this package makes
		panic(fmt.Sprintf("bench: encode request: %v", err))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, "+
		"text/event-stream\r\n"+
		"MCP-Protocol-Version: %s\r\nMcp-Method: %s\r\nContent-Length: %d\r\n", w.host, modern, method, len(body))
	if name != "" {
		fmt.Fprintf(&b, "Mcp-Name: %s\r\n", name)
	}
	if w.token != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", w.token)
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

// tool encodes a call of a tool.
func (w *wire) tool(name string, args any) []byte {
	return w.request("tools/call", name, map[string]any{"name": name, "arguments": args})
}

// send sends a request and gives the head of its answer; the body is still to
// be read.
func (w *wire) send(request []byte) (*http.Response, error) {
	// a hanging server is an error, not a hanging bench
	if err := w.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if _, err := w.conn.Write(request); err != nil {
		return nil, err
	}
	return http.ReadResponse(w.r, nil)
}

// roundTrip sends a request and reads its answer.
func (w *wire) roundTrip(request []byte) ([]byte, error) {
	resp, err := w.send(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return lastData(body), nil
	}
	return body, nil
}

// lastData is the data of the last event of a stream: the answer, behind any
// notifications.
func lastData(stream []byte) (data []byte) {
	for line := range bytes.Lines(stream) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(rest)
		}
	}
	return data
}
