package jetstreamtest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

const (
	stream   = "CORDELIA"
	patience = 30 * time.Second
)

// Server is one with accounts, as an operator runs it.
type Server struct {
	testing.TB
	Credentials string // file of the user that may publish
	all         string // file of one that may do everything
	options     *server.Options
	running     *server.Server
}

// New starts a server with a stream that takes cordelia.> and remembers ids for an hour.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{TB: t, options: &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true}}
	s.accounts()
	s.Start()
	t.Cleanup(func() { s.Stop() })
	s.do(func(js nats.JetStreamContext) {
		_, err := js.AddStream(&nats.StreamConfig{Name: stream, Subjects: []string{"cordelia.>"}, Duplicates: time.Hour})
		require.NoError(t, err)
	})
	return s
}

// accounts makes an operator, an account with a stream, and its users.
func (s *Server) accounts() {
	s.Helper()
	operator, err := nkeys.CreateOperator()
	require.NoError(s, err)
	resolver := &server.MemAccResolver{}
	account := func(limits jwt.JetStreamLimits) (nkeys.KeyPair, string) {
		key, err := nkeys.CreateAccount()
		require.NoError(s, err)
		claims := jwt.NewAccountClaims(public(s, key))
		claims.Limits.JetStreamLimits = limits
		text, err := claims.Encode(operator)
		require.NoError(s, err)
		require.NoError(s, resolver.Store(public(s, key), text))
		return key, public(s, key)
	}
	_, system := account(jwt.JetStreamLimits{})
	team, _ := account(jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1})
	s.options.TrustedOperators = []*jwt.OperatorClaims{jwt.NewOperatorClaims(public(s, operator))}
	s.options.SystemAccount, s.options.AccountResolver = system, resolver
	s.Credentials = s.user(team, jwt.Permissions{
		Pub: jwt.Permission{Allow: jwt.StringList{"cordelia.>"}}, Sub: jwt.Permission{Allow: jwt.StringList{"_INBOX.>"}}})
	s.all = s.user(team, jwt.Permissions{})
}

// user writes the credentials of a new user.
func (s *Server) user(account nkeys.KeyPair, may jwt.Permissions) (file string) {
	s.Helper()
	key, err := nkeys.CreateUser()
	require.NoError(s, err)
	claims := jwt.NewUserClaims(public(s, key))
	claims.Permissions = may
	text, err := claims.Encode(account)
	require.NoError(s, err)
	seed, err := key.Seed()
	require.NoError(s, err)
	raw, err := jwt.FormatUserConfig(text, seed)
	require.NoError(s, err)
	file = filepath.Join(s.TempDir(), "user.creds")
	require.NoError(s, os.WriteFile(file, raw, 0o600))
	return file
}

func public(t testing.TB, key nkeys.KeyPair) string {
	t.Helper()
	id, err := key.PublicKey()
	require.NoError(t, err)
	return id
}

// Start starts the server, again where it was.
func (s *Server) Start() {
	s.Helper()
	running, err := server.NewServer(s.options.Clone())
	require.NoError(s, err)
	go running.Start()
	require.True(s, running.ReadyForConnections(patience), "the NATS server starts")
	address, ok := running.Addr().(*net.TCPAddr)
	require.True(s, ok)
	s.running, s.options.Port = running, address.Port
}

// Stop stops it; what it has taken stays on disk.
func (s *Server) Stop() {
	s.running.Shutdown()
	s.running.WaitForShutdown()
}

// Takes has the stream take these subjects alone.
func (s *Server) Takes(subjects ...string) {
	s.Helper()
	s.do(func(js nats.JetStreamContext) {
		_, err := js.UpdateStream(&nats.StreamConfig{Name: stream, Subjects: subjects, Duplicates: time.Hour})
		require.NoError(s, err)
	})
}

// URL is the server's address.
func (s *Server) URL() string { return "nats://127.0.0.1:" + strconv.Itoa(s.options.Port) }

// Message is what the stream took.
type Message struct {
	Subject, ID string
	Body        []byte
}

// Messages lists all that the stream took, in its order.
func (s *Server) Messages() (list []Message) {
	s.Helper()
	s.do(func(js nats.JetStreamContext) {
		info, err := js.StreamInfo(stream)
		require.NoError(s, err)
		for n := info.State.FirstSeq; n > 0 && n <= info.State.LastSeq; n++ {
			m, err := js.GetMsg(stream, n)
			require.NoError(s, err)
			list = append(list, Message{Subject: m.Subject, ID: m.Header.Get(nats.MsgIdHdr), Body: m.Data})
		}
	})
	return list
}

// Drop removes the stream.
func (s *Server) Drop() {
	s.Helper()
	s.do(func(js nats.JetStreamContext) { require.NoError(s, js.DeleteStream(stream)) })
}

// do uses a connection of the user that may do everything.
func (s *Server) do(use func(nats.JetStreamContext)) {
	s.Helper()
	c, err := nats.Connect(s.URL(), nats.UserCredentials(s.all), nats.Timeout(patience))
	require.NoError(s, err)
	defer c.Close()
	js, err := c.JetStream(nats.MaxWait(patience))
	require.NoError(s, err)
	use(js)
}
