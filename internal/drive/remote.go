package drive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"cordelia/internal/keys"
)

// Remote is a client over HTTP with a bearer token. It speaks the stateless
// era: every request stands alone.
type Remote struct {
	address, token string
	by             *http.Client
}

// NewRemote makes the client that a token stands for.
func NewRemote(address, token string) *Remote {
	return &Remote{address: address, token: token, by: http.DefaultClient}
}

// Dial proves to the server at address that it holds the key of keyFile, in the
// node's home, and returns the client it may be.
func (n *Node) Dial(ctx context.Context, address, keyFile string) (*Remote, error) {
	return n.DialBy(ctx, http.DefaultClient, address, keyFile)
}

// DialBy is Dial by an HTTP client of the caller's.
func (n *Node) DialBy(ctx context.Context, by *http.Client, address, keyFile string) (*Remote, error) {
	file, err := keys.LoadFile(filepath.Join(n.Home, "keys", keyFile), func() ([]byte, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	defer file.Identity.Erase()
	var challenge struct {
		Message []byte
		Nonce   []byte
		Expires int64
	}
	if err := post(ctx, by, address+"/auth/challenge", map[string]any{"agent_id": file.EntityID}, &challenge); err != nil {
		return nil, err
	}
	var issued struct{ Token string }
	if err := post(ctx, by, address+"/auth/token", map[string]any{
		"agent_id": file.EntityID, "nonce": challenge.Nonce, "expires": challenge.Expires,
		"signature": base64.StdEncoding.EncodeToString(file.Identity.Sign(challenge.Message)),
	}, &issued); err != nil {
		return nil, err
	}
	if issued.Token == "" {
		return nil, errors.New("the node issued no token")
	}
	return &Remote{address: address, token: issued.Token, by: by}, nil
}

// PostBytes sends a body as it is, with these headers, and gives what was answered.
func PostBytes(ctx context.Context, url string, body []byte, header map[string]string) (status int, answer string,
	err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, string(raw), err
}

// Post sends in as JSON and reads the answer into out.
func Post(ctx context.Context, url string, in, out any) error {
	return post(ctx, http.DefaultClient, url, in, out)
}

func post(ctx context.Context, by *http.Client, url string, in, out any) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	return do(by, req, out)
}

// errUnauthorized is what a request gets whose token has ended.
var errUnauthorized = errors.New("401 Unauthorized")

func do(by *http.Client, req *http.Request, out any) error {
	resp, err := by.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		body = lastEvent(body)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("%s: %w: %s", req.URL.Path, errUnauthorized, body)
	}
	if json.Unmarshal(body, out) != nil {
		return fmt.Errorf("%s: %s: %s", req.URL.Path, resp.Status, body)
	}
	return nil
}

// lastEvent is the data of the last event of a stream: the answer, after any
// notifications.
func lastEvent(stream []byte) []byte {
	var data []byte
	for line := range bytes.Lines(stream) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = bytes.TrimSpace(rest)
		}
	}
	return data
}

func (c *Remote) ask(ctx context.Context, method, name string, params map[string]any) (*http.Request, error) {
	const version = "2026-07-28"
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    version,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/mcp", bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("MCP-Protocol-Version", version)
	req.Header.Set("Mcp-Method", method)
	req.Header.Set("Cordelia-Structured", "1")
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	return req, nil
}

// Request sends a request and waits for its answer.
func (c *Remote) Request(ctx context.Context, method, name string, params map[string]any) (Reply, error) {
	var r Reply
	req, err := c.ask(ctx, method, name, params)
	if err != nil {
		return r, err
	}
	return r, do(c.by, req, &r)
}

// Handshake opens a session as clients before 2026-07-28 do, and leaves it open. It gives the
// status of the answer.
func (c *Remote) Handshake(ctx context.Context) (status int, err error) {
	body := `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
		"capabilities": {}, "clientInfo": {"name": "drive", "version": "1"}}}`
	status, _, err = PostBytes(ctx, c.address+"/mcp", []byte(body), map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + c.token})
	return status, err
}

// Listen opens a stream of notifications of the resource at uri. The function returned reads it
// to its end; notified, unless nil, is called for each of them.
func (c *Remote) Listen(ctx context.Context, uri string, notified func()) (toEnd func() error, err error) {
	req, err := c.ask(ctx, "subscriptions/listen", "", map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{uri}},
	})
	if err != nil {
		return nil, err
	}
	resp, err := c.by.Do(req)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewReader(resp.Body)
	first, err := lines.ReadString('\n') // the subscription is acknowledged
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err != nil {
		resp.Body.Close() //nolint:errcheck // only read
		return nil, fmt.Errorf("listen: %w: %s", err, first)
	}
	return func() error {
		defer resp.Body.Close() //nolint:errcheck // only read
		for {
			line, err := lines.ReadString('\n')
			if notified != nil && strings.Contains(line, `"notifications/resources/updated"`) {
				notified()
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}, nil
}

// Call calls a tool.
func (c *Remote) Call(ctx context.Context, tool string, args json.RawMessage) (Answer, error) {
	r, err := c.Request(ctx, "tools/call", tool, map[string]any{"name": tool, "arguments": args})
	if err != nil {
		if errors.Is(err, errUnauthorized) {
			return Answer{Code: "unauthenticated", Text: err.Error(), Value: map[string]any{}}, nil
		}
		return Answer{}, err
	}
	return answerOf(r)
}

// List lists the tools offered.
func (c *Remote) List(ctx context.Context) ([]Tool, error) {
	r, err := c.Request(ctx, "tools/list", "", map[string]any{})
	if err != nil {
		return nil, err
	}
	return toolsOf(r)
}

// Close forgets the token.
func (c *Remote) Close() error { return nil }
