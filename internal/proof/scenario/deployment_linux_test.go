package scenario

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"debug/elf"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"cordelia/internal/store/storetest"
	"cordelia/mcp"
)

// deploy is the folder of the worked deployment.
const deploy = "../../../deploy"

// composed is what the test reads of compose.yaml.
type composed struct {
	Services map[string]service
	Secrets  map[string]struct{ File string }
}

type service struct {
	User        string
	Command     []string
	Environment map[string]string
	Secrets     []string
	Volumes     []string
	Ports       []string
	Healthcheck struct{ Test []string }
	ReadOnly    bool `yaml:"read_only"`
}

// deployment runs the parts of compose.yaml as processes, each by its own command line, environment
// and files. Only names and addresses change, to loopback addresses of this process, and places of
// files, to those in a folder of the test.
type deployment struct {
	testing.TB
	composed
	folder string
	db     *storetest.Instance
}

// needs skips the test where a program is absent; in CI that is a failure.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		_, err := osexec.LookPath(name)
		if err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s is not installed: apt-get install %s", name, name)
		}
		require.NoError(t, err)
	}
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin") // where the proxy is
	needs(t, "nginx", "openssl", "wget", "psql")
	storetest.Server(t) // skips the test where PostgreSQL is absent
	raw, err := os.ReadFile(filepath.Join(deploy, "compose.yaml"))
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "cordelia-deploy")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755)) // the database runs as another user
	require.NoError(t, os.Mkdir(filepath.Join(folder, "tmp"), 0o755))
	d := &deployment{TB: t, folder: folder}
	require.NoError(t, yaml.Unmarshal(raw, &d.composed))

	own, err := user.Current()
	require.NoError(t, err)
	database := own
	if own.Uid == "0" {
		database, err = user.Lookup("postgres")
		require.NoError(t, err)
	}
	prepare := osexec.CommandContext(t.Context(), filepath.Join(deploy, "prepare.sh"), "cordelia.example")
	prepare.Env = append(os.Environ(), "FOLDER="+folder, "CORDELIA_UID="+own.Uid, "PROXY_UID="+own.Uid,
		"DATABASE_UID="+database.Uid, "DATABASE_NAMES=IP:"+d.address("db"), "PROXY_NAMES=IP:"+d.address("proxy"))
	out, err := prepare.CombinedOutput()
	require.NoError(t, err, "%s", out)
	crt, err := os.ReadFile(filepath.Join(folder, "secrets", "database.crt"))
	require.NoError(t, err)
	block, _ := pem.Decode(crt)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	require.Equal(t, []string{"db"}, certificate.DNSNames, "further names take no name away")
	for _, name := range []string{"roles.sql", "nginx.conf"} {
		raw, err := os.ReadFile(filepath.Join(deploy, name))
		require.NoError(t, err)
		text := d.here("proxy", string(raw))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)) //nolint:gosec // read by others
	}
	return d
}

// address is a loopback address of this process for a service.
func (d *deployment) address(name string) string {
	pid := os.Getpid()
	place := slices.Index([]string{"db", "node-1", "node-2", "proxy", "owner", "backup"}, name)
	require.GreaterOrEqual(d, place, 0, name)
	return fmt.Sprintf("127.%d.%d.%d", 1+pid>>13&0x7f, pid>>5&0xff, 1+pid<<3&0xff|place)
}

// here puts what is on this machine for what a text of a service names.
func (d *deployment) here(name, text string) string {
	return strings.NewReplacer("/run/secrets/", d.folder+"/secrets/",
		"/backups/", d.folder+"/backups/", "${BACKUP:-cordelia}", "monday", "/tmp/", d.folder+"/tmp/",
		"@db/", "@"+d.address("db")+"/", "node-1:", d.address("node-1")+":", "node-2:", d.address("node-2")+":",
		"127.0.0.1", d.address(name), "0.0.0.0", d.address(name)).Replace(text)
}

func (d *deployment) hereAll(name string, texts []string) (list []string) {
	for _, text := range texts {
		list = append(list, d.here(name, text))
	}
	return list
}

// node is the surroundings that the commands of a service run in.
func (d *deployment) node(name string) *Node {
	d.Helper()
	n := NewNode(binary, d.folder)
	for key, value := range d.Services[name].Environment {
		n.Env = append(n.Env, key+"="+d.here(name, value))
	}
	for _, v := range d.Services[name].Volumes {
		if volume, inside, _ := strings.Cut(v, ":"); inside == "/var/lib/cordelia" {
			n.Home = filepath.Join(d.folder, volume)
		}
	}
	require.NoError(d, os.MkdirAll(n.Home, 0o700))
	d.Cleanup(n.Kill)
	return n
}

// serve starts a node and waits until it is healthy.
func (d *deployment) serve(name string, n *Node) {
	d.Helper()
	c, err := n.Start(append(d.hereAll(name, d.Services[name].Command), "--end-with-input")...)
	require.NoError(d, err)
	require.Eventually(d, func() bool {
		select {
		case <-c.Ended():
			d.Fatal(c.Stderr())
		default:
		}
		return d.healthy(name)
	}, time.Minute, 100*time.Millisecond, name)
}

// healthy runs the check of a service.
func (d *deployment) healthy(name string) bool {
	words := d.hereAll(name, d.Services[name].Healthcheck.Test)
	require.Equal(d, "CMD", words[0], name)
	return osexec.CommandContext(d.Context(), words[1], words[2:]...).Run() == nil
}

// untilEnd runs a program until its input ends.
const untilEnd = `trap '' INT TERM; "$@" & program=$!; cat > /dev/null || true; kill -TERM $program; wait $program`

// proxy starts the proxy, and gives how to read what it printed.
func (d *deployment) proxy() func() string {
	d.Helper()
	words := d.hereAll("proxy", d.Services["proxy"].Command)
	at := slices.Index(words, "/etc/nginx/nginx.conf")
	require.Positive(d, at)
	words[at] = filepath.Join(d.folder, "nginx.conf")
	// Not the test's context: its end would kill the shell, and the proxy would go on without it.
	cmd := osexec.CommandContext(context.Background(), "sh", append([]string{"-c", untilEnd, "sh"}, words...)...)
	log := filepath.Join(d.folder, "proxy.log")
	out, err := os.Create(log)
	require.NoError(d, err)
	defer out.Close() //nolint:errcheck // the child has it
	cmd.Stdout, cmd.Stderr = out, out
	in, err := cmd.StdinPipe()
	require.NoError(d, err)
	require.NoError(d, cmd.Start())
	d.Cleanup(func() {
		in.Close() //nolint:errcheck // it ends with it
		cmd.Wait() //nolint:errcheck // by a signal
	})
	said := func() string {
		raw, err := os.ReadFile(log)
		require.NoError(d, err)
		return string(raw)
	}
	require.Eventually(d, func() bool { return d.healthy("proxy") }, time.Minute, 100*time.Millisecond, "%s", said)
	return said
}

// client reaches the proxy from one address, so that the proxy chooses its node by it.
func (d *deployment) client(from string) *http.Client {
	authority, err := os.ReadFile(filepath.Join(d.folder, "secrets", "authority.crt"))
	require.NoError(d, err)
	pool := x509.NewCertPool()
	require.True(d, pool.AppendCertsFromPEM(authority))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool},
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}
	d.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get gives the status of a page of the proxy, and whether the console gave it.
func (d *deployment) get(by *http.Client, url string) (status int, page bool) {
	d.Helper()
	req, err := http.NewRequestWithContext(d.Context(), http.MethodGet, url, nil)
	require.NoError(d, err)
	resp, err := by.Do(req)
	require.NoError(d, err)
	require.NoError(d, resp.Body.Close())
	return resp.StatusCode, resp.Header.Get("Content-Security-Policy") != ""
}

// What deploy/ holds works: the roles, the jobs, two nodes behind a proxy, of which one is stopped,
// and the backup, which is restored.
func TestDeployment(t *testing.T) {
	d := newDeployment(t)
	words := d.hereAll("db", d.Services["db"].Command)
	require.Equal(t, "postgres", words[0])
	d.db = storetest.NewInstance(t, append(words[1:], "-c", "listen_addresses="+d.address("db"))...)
	storetest.Admin(t, d.db.Address()+" dbname=postgres", `CREATE DATABASE cordelia TEMPLATE template0`)
	d.db.Program("psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", "cordelia", "-f", filepath.Join(d.folder, "roles.sql"))
	d.db.Program("pg_isready", d.hereAll("db", d.Services["db"].Healthcheck.Test[2:])...)

	owner, one, two, job := d.node("owner"), d.node("node-1"), d.node("node-2"), d.node("backup")
	runs(t, owner, d.Services["owner"].Command...)
	d.serve("node-1", one)
	d.serve("node-2", two)
	said := d.proxy()
	url := "https://" + d.address("proxy") + ":8443"
	m := &team{TB: t, nodes: []*Node{one}, urls: []string{url, url}, clients: make([]*http.Client, 2)}
	for n := 2; slices.Contains(m.clients, nil); n++ { // a client for each node
		require.Less(t, n, 250, "all clients are sent to one node")
		from := fmt.Sprintf("127.0.0.%d", n)
		by := d.client(from)
		status, _ := d.get(by, url+"/health")
		require.Equal(t, http.StatusOK, status)
		i := 0
		if d.servedBy(said, from) == d.address("node-2") {
			i = 1
		}
		m.clients[i] = by
	}
	for path, want := range map[string]int{"/mcp": http.StatusUnauthorized, "/console/": http.StatusNotFound,
		// The proxy and the node must read a path alike: in one of these the console is left again.
		"/console/tasks/..%2f..%2fmcp": http.StatusUnauthorized, "/console/tasks/..%2f..%2fhealth": http.StatusOK,
		"/console/tasks/..%2f..%2fhooks/replay": http.StatusMethodNotAllowed} {
		status, page := d.get(m.clients[0], url+path)
		require.False(t, page, "%s: the console is not for the world", path)
		require.Equal(t, want, status, path)
	}

	lead := m.lead(0)
	told(t, lead, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	file := m.worker("pilot", "events_poll")
	told(t, lead, "memory_group", map[string]any{"action": "add", "group": "harbour", "entity": "pilot",
		"role": "member"})
	m.submit(20)
	work := func(c *Remote) {
		item, ok := told(t, c, "task_claim", map[string]any{})["work"].(map[string]any)
		require.True(t, ok)
		told(t, c, "task_report", map[string]any{"work_id": item["work_id"], "fence": item["fence"], "outcome": "done"})
	}
	var pilots []*Remote
	for i := range m.urls {
		pilot, err := m.dial(t.Context(), file, i)
		require.NoError(t, err)
		work(pilot)
		pilots = append(pilots, pilot)
	}

	news := make(chan struct{}, 100)
	toEnd, err := pilots[1].Listen(t.Context(), mcp.EventsURI, func() { news <- struct{}{} })
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- toEnd() }()
	write := func(words string) {
		told(t, lead, "memory_write_warm", map[string]any{"type": "learning", "group": "harbour",
			"data": map[string]any{"type": "insight", "content": words}})
	}
	write("The ferry leaves at nine")
	for read := ""; !strings.Contains(read, "memory.written"); {
		select {
		case <-news:
		case err := <-ended:
			t.Fatal("the stream ended: ", err)
		case <-time.After(30 * time.Second):
			t.Fatal("nothing comes through the stream")
		}
		read = fmt.Sprint(told(t, pilots[1], "events_poll", map[string]any{}))
	}

	require.Contains(t, runs(t, job, d.hereAll("backup", d.Services["backup"].Command)...), "entries, intact")
	write("The ferry leaves at ten")
	one.Kill()
	require.Eventually(t, func() bool { // a call that was under way may be lost with the node
		a, err := lead.Call(t.Context(), "memory_search", []byte(`{"query": "ferry"}`))
		return err == nil && a.Code == "" && strings.Contains(fmt.Sprint(a.Value), "at ten")
	}, time.Minute, 100*time.Millisecond, "the other node takes over")
	work(pilots[0])
	two.Kill()

	backup := filepath.Join(d.folder, "backups", "monday.db")
	require.Contains(t, runs(t, owner, "restore", backup), "before_restore_")
	d.serve("node-1", one)
	d.serve("node-2", two)
	require.Eventually(t, func() bool {
		lead, err = m.dial(t.Context(), "claude-code.key", 0)
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	found := fmt.Sprint(told(t, lead, "memory_search", map[string]any{"query": "ferry"}))
	require.Contains(t, found, "at nine")
	require.NotContains(t, found, "at ten")
	runs(t, one, "audit", "verify")

	storetest.Admin(t, d.db.Address()+" dbname=postgres",
		`CREATE DATABASE fresh TEMPLATE template0 OWNER cordelia_owner`)
	for i, text := range owner.Env {
		owner.Env[i] = strings.Replace(text, "/cordelia?", "/fresh?", 1)
	}
	runs(t, owner, "restore", backup, "--accept-state-of-backup")
	require.Contains(t, runs(t, owner, "memory", "search", "ferry", "--as", "claude-code"), "at nine")
	runs(t, owner, "audit", "verify")
	for _, role := range []string{"owner", "writer"} {
		secret, err := os.ReadFile(filepath.Join(d.folder, "secrets", role+".password"))
		require.NoError(t, err)
		require.NotContains(t, said(), string(bytes.TrimSpace(secret)))
	}
}

// servedBy is the address of the node that served a client last, as the proxy's log says.
func (d *deployment) servedBy(said func() string, from string) (address string) {
	d.Helper()
	require.Eventually(d, func() bool {
		for line := range strings.Lines(said()) {
			if f := strings.Fields(line); len(f) == 6 && f[0] == from {
				address, _, _ = strings.Cut(f[4], ":")
			}
		}
		return address != ""
	}, 30*time.Second, 10*time.Millisecond)
	return address
}

// What deploy/ says of itself: who runs what, which files are secret, and what the world reaches.
func TestDeploymentKeepsSecrets(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(deploy, name))
		require.NoError(t, err)
		return string(raw)
	}
	var c composed
	require.NoError(t, yaml.Unmarshal([]byte(read("compose.yaml")), &c))
	for name, s := range c.Services {
		require.Equal(t, name == "proxy", len(s.Ports) > 0, "%s: the world reaches the proxy alone", name)
		require.Equal(t, name != "db", s.ReadOnly, name)
		for _, secret := range s.Secrets {
			require.Equal(t, "./secrets/"+secret, c.Secrets[secret].File)
		}
		for key, value := range s.Environment {
			require.NotRegexp(t, `//[^/@]*:[^/@]*@`, value, "%s of %s holds a password", key, name)
			require.True(t, !strings.Contains(key, "PASSWORD") || strings.HasSuffix(key, "_FILE"), key)
		}
	}
	image := read("Containerfile")
	stages := strings.Split(image, "\nFROM ")
	require.Len(t, stages, 3)
	require.Contains(t, stages[1], "make build")
	last := stages[2]
	require.Contains(t, last, "\nUSER cordelia\n")
	require.Contains(t, last, "\nCOPY --from=build /src/bin/cordelia ")
	require.Contains(t, last, "\nENV CORDELIA_HOME=/var/lib/cordelia\n") // a volume in compose.yaml
	require.NotRegexp(t, `(?m)^(ADD |ARG |ENV (CORDELIA_[^H]|PG))`, image)
	program, err := elf.Open(binary) // made with the flags of make build
	require.NoError(t, err)
	defer program.Close() //nolint:errcheck // only read
	for _, part := range program.Progs {
		require.NotEqual(t, elf.PT_INTERP, part.Type, "the program is static")
	}
	require.Contains(t, read("../.dockerignore"), "deploy/secrets\n")
	require.Contains(t, read("../.gitignore"), "/deploy/secrets/\n")
	_, statements, found := strings.Cut(read("../docs/scale.md"), "```sql\n")
	require.True(t, found)
	statements, _, _ = strings.Cut(statements, "```")
	require.Contains(t, read("roles.sql"), statements, "the roles are those of the page")
}
