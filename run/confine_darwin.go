package run

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"cordelia/schemas"
)

// sandboxExec is the program by which macOS confines another one. Its maker calls it
// deprecated and has nothing in its place.
const sandboxExec = "/usr/bin/sandbox-exec"

// tried is what became of the one try of a process.
var tried = sync.OnceValue(TryShield)

// Shielded says what a shield holds on this system and what it leaves open, or why there
// is none. Here nothing is promised that was not tried at once.
func Shielded() (enforced, open []string, err error) {
	if err := tried(); err != nil {
		return nil, nil, schemas.Errorf(schemas.CodeUnavailable, "sandbox-exec does not confine workers here: %v", err).
			Try("say --sandbox none: workers then reach what you can").Because(err)
	}
	return []string{"files outside the worktree cannot be written", "files outside a list cannot be read",
			"TCP connects to listed ports only", "no unix sockets by path but the runner's",
			"no signals to processes outside", "no UDP but for names"},
		[]string{"data can leave by those ports, to any host",
			"what the client can read of its own login, its commands can read"}, nil
}

// TryShield runs commands behind a shield and looks whether it holds.
func TryShield() error {
	folder, err := os.MkdirTemp("", "cordelia-shield-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temporary folder
	own, secret := filepath.Join(folder, "own"), filepath.Join(folder, "secret")
	if err := errors.Join(os.Mkdir(own, 0o700), os.WriteFile(secret, []byte("x"), 0o600)); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close() //nolint:errcheck // nothing was to connect
	text, err := profile(linkless(Shield{Write: []string{own}}))
	if err != nil {
		return err
	}
	for _, one := range []struct {
		script string
		works  bool
		wrong  string
	}{
		{`echo x > "$1/a" && cat "$1/a"`, true, "its own folder could not be used"},
		{`cat "$2"`, false, "a file outside the shield could be read"},
		{`echo x > "$2.2"`, false, "a file outside the shield could be written"},
		{`/usr/bin/nc -z -w 2 127.0.0.1 "$3"`, false, "a port outside the shield could be connected to"},
	} {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		out, err := exec.Command(sandboxExec, "-p", text, "/bin/sh", "-c", one.script, "sh", own, secret,
			port).CombinedOutput()
		if (err == nil) != one.works {
			return fmt.Errorf("%s: %.200s", one.wrong, out)
		}
	}
	return nil
}

// become replaces the process by sandbox-exec, which confines itself and becomes the program.
func become(s Shield, program string, args []string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	text, err := profile(linkless(s))
	if err != nil {
		return err
	}
	return syscall.Exec(sandboxExec, append([]string{"sandbox-exec", "-p", text, path}, args...), os.Environ())
}

// linkless is a shield whose paths have no links in them.
func linkless(s Shield) Shield {
	for _, list := range []*[]string{&s.Read, &s.Write, &s.Sockets} {
		var paths []string
		for _, path := range *list {
			paths = append(paths, resolved(path))
		}
		*list = paths
	}
	return s
}
