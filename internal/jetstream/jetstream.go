package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"cordelia/internal/endpoint"
	"cordelia/schemas"
)

// Config of New.
type Config struct {
	URL         string // of the servers, with commas between them
	Credentials string // file with the user's credentials, mode 0600; "" = none
}

// Publisher hands messages over. It is for one goroutine at a time; Close is for any.
type Publisher struct {
	config Config
	mu     sync.Mutex
	conn   *nats.Conn // nil until the first message
}

// New checks c; the connection is made when it is needed.
func New(c Config) (*Publisher, error) {
	for server := range strings.SplitSeq(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		switch {
		case err == nil && u.User != nil, err != nil && strings.Contains(server, "@"):
			return nil, schemas.Invalidf("the address of NATS holds a user or a password, which others may read there").
				Try("name a file with the user's credentials, mode 0600, in nats.credentials")
		case err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls":
			return nil, schemas.Invalidf("the address of NATS cannot be read").
				Try("write it as tls://host:4222, or nats://127.0.0.1:4222 on this machine")
		case u.Scheme == "nats" && !endpoint.Loopback(u):
			return nil, schemas.Invalidf("the address of NATS is another machine's, without TLS: events could be read and " +
				"dropped on the way").Try("write it as tls://host:4222")
		}
	}
	if c.Credentials != "" {
		if err := private(c.Credentials); err != nil {
			return nil, err
		}
	}
	return &Publisher{config: c}, nil
}

// private refuses a file that others can read, or that is none.
func private(file string) error {
	info, err := os.Stat(file)
	what := ""
	switch {
	case err != nil:
		what = "cannot be read"
	case !info.Mode().IsRegular():
		what = "is no file"
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		what = "can be read by other users"
	default:
		return nil
	}
	return schemas.Errorf(schemas.CodeUnauthenticated, "the credentials of NATS: %s %s", file, what).
		Try("keep them in a file of mode 0600, as nsc writes it").Because(err)
}

// Check connects, and waits until the server answers.
//
// Errors: CodeUnavailable when it does not, or does not let the user in.
func (p *Publisher) Check(ctx context.Context) error {
	conn, err := p.connect()
	if err == nil {
		ctx, end := context.WithTimeout(ctx, ackWait)
		defer end()
		err = conn.FlushWithContext(ctx)
	}
	if err != nil {
		return unreachable(err)
	}
	return nil
}

const (
	connectWait = 5 * time.Second
	ackWait     = 5 * time.Second
	idHeader    = nats.MsgIdHdr
)

// Publish hands one message over and waits until the stream has it.
//
// Errors: CodeUnavailable when it does not answer, takes no such subject, or refuses.
func (p *Publisher) Publish(ctx context.Context, subject, id string, body []byte) error {
	conn, err := p.connect()
	if err != nil {
		return unreachable(err)
	}
	ctx, end := context.WithTimeout(ctx, ackWait)
	defer end()
	answer, err := conn.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Data: body,
		Header: nats.Header{idHeader: []string{id}}})
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return unavailable("no stream of NATS takes the subject "+subject,
			"make one that does: nats stream add CORDELIA --subjects 'cordelia.>'", err)
	case err != nil:
		return unavailable("NATS does not answer", "see that it runs, and that this user may publish there", err)
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil || ack.Error == nil && ack.Stream == "" {
		return unavailable("what takes the subject "+subject+" is no stream of NATS",
			"make one that does: nats stream add CORDELIA --subjects 'cordelia.>'", err)
	}
	if ack.Error != nil {
		return unavailable("the stream of NATS takes no message", "look at its limits: nats stream info",
			fmt.Errorf("publish: %s", ack.Error.Description))
	}
	return nil
}

func unreachable(cause error) error {
	return unavailable("NATS cannot be reached, or does not let this node in",
		"see that it runs, and that nats.url and nats.credentials are right", cause)
}

func unavailable(msg, hint string, cause error) error {
	return schemas.Errorf(schemas.CodeUnavailable, "%s", msg).Try("%s", hint).Because(cause)
}

func (p *Publisher) connect() (*nats.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil && !p.conn.IsClosed() {
		return p.conn, nil
	}
	options := []nats.Option{nats.Name("cordelia"), nats.Timeout(connectWait), nats.MaxReconnects(-1), nats.NoEcho(),
		nats.IgnoreDiscoveredServers(), // or a server could name others, reached without TLS
		nats.ReconnectBufSize(-1)}      // what is not sent now is published again, with the same id
	if p.config.Credentials != "" {
		options = append(options, nats.UserCredentials(p.config.Credentials))
	}
	conn, err := nats.Connect(p.config.URL, options...)
	if err == nil {
		p.conn = conn
	}
	return conn, err
}

// Close ends the connection.
func (p *Publisher) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		p.conn.Close()
	}
}
