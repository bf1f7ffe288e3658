package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cordelia/run/git/gittest"
)

// shielded runs a shell command as a worker's and says whether it worked.
func shielded(t *testing.T, s Shield, dir, script string) (string, bool) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	program, args, err := s.wrap(self, "bash", []string{"-c", script})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	defer r.Close()
	cmd.Dir, cmd.Env, cmd.ExtraFiles = dir, s.environ([]string{"PATH=" + os.Getenv("PATH")}), []*os.File{r}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// A worker reaches its worktree and what it needs, and of the rest of its user's nothing.
func TestWorkersReachWhatTheyNeedAlone_INV_SHIELD(t *testing.T) {
	if _, _, err := Shielded(); err != nil {
		t.Skip(err)
	}
	r := gittest.New(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	r.Write(home, ".ssh/id_ed25519", "secret\n")
	r.Write(home, "notes.txt", "secret\n")
	place := filepath.Join(home, ".cache", "run")
	w, err := r.AddWorktree(t.Context(), filepath.Join(place, "tree"), r.Base)
	require.NoError(t, err)
	open, shut := listening(t), listening(t)
	s, err := WorkerShield(t.Context(), r.Repository, place, w, t.TempDir(), Reach{Ports: []uint16{open}})
	require.NoError(t, err)
	other := r.Worktree(r.Base)
	outside := exec.Command("sleep", "600")
	require.NoError(t, outside.Start())
	t.Cleanup(func() { outside.Process.Kill(); outside.Wait() }) //nolint:errcheck // it is only there to be aimed at
	connect := func(port uint16) string { return fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port) }
	for script, works := range map[string]bool{
		"echo x > new.txt && cat a.txt":                true,
		"echo x > $HOME/x && echo x > $TMPDIR/x":       true,
		"git status && git diff && git log -1":         true,
		"echo x > /dev/null":                           true,
		"ls /usr/bin > /dev/null && cat /etc/hostname": true,
		connect(open):                                            true,
		"cat " + home + "/.ssh/id_ed25519":                       false,
		"cat " + home + "/notes.txt":                             false,
		"ls " + home:                                             false,
		"echo x >> " + r.Dir + "/a.txt":                          false,
		"cat " + r.Dir + "/a.txt":                                false, // the user's own copy
		"echo x > " + r.Dir + "/.git/hooks/post-checkout":        false,
		"echo x >> " + r.Dir + "/.git/config":                    false,
		"git -c user.name=x -c user.email=x commit -qam x":       false,
		"cat " + other.Path + "/a.txt":                           false,
		"echo x > " + other.Path + "/b.txt":                      false,
		"echo x > " + filepath.Dir(other.Path) + "/../x":         false,
		"ln " + home + "/notes.txt here.txt":                     false,
		"ln -s " + home + "/notes.txt here && cat here":          false,
		"cat /proc/1/environ":                                    false,
		fmt.Sprintf("cat /proc/%d/environ", outside.Process.Pid): false,
		connect(shut):                                            false,
		"echo x > /dev/ptmx":                                     false, // a terminal, to type into
		"echo x > /dev/tty":                                      false,
	} {
		out, ok := shielded(t, s, w.Path, script)
		assert.Equal(t, works, ok, "%s: %.300s", script, out)
	}
	if landlockABI() >= 6 {
		_, ok := shielded(t, s, w.Path, fmt.Sprintf("kill %d", outside.Process.Pid))
		require.False(t, ok, "a process outside is not signalled")
	}
	raw, err := os.ReadFile(filepath.Join(r.Dir, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nthree\n", string(raw))
}

// A client has no terminal of the user's: it is the first of a session of its own, which has
// none.
func TestClientsHaveNoTerminal(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	mine, err := unix.Getsid(0)
	require.NoError(t, err)
	exit, out, err := collect(t.Context(), command{program: "bash", args: []string{"-c",
		`read -r _ _ _ _ _ session tty _ < <(sed 's/([^)]*)/x/' /proc/$$/stat); echo "$session $tty"`}, dir: t.TempDir(),
		self: self}, time.Minute, 1000)
	require.NoError(t, err)
	require.Zero(t, exit, out)
	session, terminal, _ := strings.Cut(strings.TrimSpace(out), " ")
	require.NotEqual(t, fmt.Sprint(mine), session)
	require.Equal(t, "0", terminal)
}

// What a worker is given by its environment is in no arguments: other users read those.
func TestEnvironmentIsNotInArguments(t *testing.T) {
	if _, _, err := Shielded(); err != nil {
		t.Skip(err)
	}
	r := gittest.New(t)
	w := r.Worktree(r.Base)
	s, err := WorkerShield(t.Context(), r.Repository, t.TempDir(), w, t.TempDir(), Reach{})
	require.NoError(t, err)
	s.Env = append(s.Env, "ONE_KEY=sk-"+"0198c0de")
	out, ok := shielded(t, s, w.Path, `echo "$ONE_KEY"; tr '\0' ' ' < /proc/$PPID/cmdline`)
	require.True(t, ok, out)
	key, arguments, _ := strings.Cut(out, "\n")
	require.Equal(t, "sk-0198c0de", key)
	require.Contains(t, arguments, confineCommand)
	require.NotContains(t, arguments, "0198c0de")
}

// The folders of PATH are readable, but for the user's home and those that it lies in, however
// PATH spells them.
func TestPathOpensNoHome(t *testing.T) {
	top := t.TempDir()
	home, tools, link := filepath.Join(top, "home"), filepath.Join(top, "home", "bin"), filepath.Join(top, "link")
	for _, dir := range []string{home, tools, filepath.Join(top, "usr")} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	require.NoError(t, os.Symlink(home, link))
	t.Setenv("HOME", home)
	t.Setenv("PATH", strings.Join([]string{home, home + "/", link, link + "/.", top, "/", "relative", "", tools,
		filepath.Join(top, "usr")}, ":"))
	require.Equal(t, []string{tools, filepath.Join(top, "usr")}, programFolders())
}

// What a version of Landlock does not hold is said to be open. Whatever it is, a worker is
// kept from abstract sockets where that is said, and from others where that is.
func TestShieldSaysWhatAKernelHolds(t *testing.T) {
	for abi, sockets := range map[int][2]bool{4: {}, 5: {}, 6: {true, false}, 8: {true, false}, 9: {true, true}} {
		enforced, open := enforcedBy(abi)
		for i, what := range []string{"no abstract unix sockets", "no unix sockets by path"} {
			said := map[bool]string{true: strings.Join(enforced, "; "), false: strings.Join(open, "; ")}
			require.Contains(t, said[sockets[i]], what, "version %d", abi)
			require.NotContains(t, said[!sockets[i]], what, "version %d", abi)
		}
	}
	if _, _, err := Shielded(); err != nil {
		t.Skip(err)
	}
	r := gittest.New(t)
	self, err := os.Executable()
	require.NoError(t, err)
	w := r.Worktree(r.Base)
	s, err := WorkerShield(t.Context(), r.Repository, t.TempDir(), w, t.TempDir(), Reach{})
	require.NoError(t, err)
	for path, version := range map[string]int{fmt.Sprintf("@cordelia-%d", os.Getpid()): 6,
		filepath.Join(t.TempDir(), "bus"): 9} {
		l, err := net.Listen("unix", path)
		require.NoError(t, err)
		go func() {
			if conn, err := l.Accept(); err == nil {
				conn.Write([]byte("served")) //nolint:errcheck // the test sees what is missing
				conn.Close()                 //nolint:errcheck // it is over
			}
		}()
		out, _ := shielded(t, s.reading(self), w.Path, fmt.Sprintf("%s=%q %q < /dev/null", knocker, path, self))
		require.Equal(t, landlockABI() < version, out == "served", "%s: %s", path, out)
		require.NoError(t, l.Close())
	}
}

// What a shield cannot hold is not begun: a client that cannot be confined is not started.
func TestShieldsThatCannotBeReadStartNothing_INV_SHIELD(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	marker := filepath.Join(t.TempDir(), "ran")
	out, err := exec.Command(self, confineCommand, "{not json", "touch", marker).CombinedOutput()
	require.Error(t, err, string(out))
	require.NoFileExists(t, marker)
}

// listening is a port of this machine that answers.
func listening(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() }) //nolint:errcheck // it is over
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close() //nolint:errcheck // that it answers is all
		}
	}()
	return uint16(l.Addr().(*net.TCPAddr).Port)
}

// The probe that doctor makes finds the shield, and this process keeps its rights.
func TestShieldIsTried_INV_SHIELD(t *testing.T) {
	if _, _, err := Shielded(); err != nil {
		t.Skip(err)
	}
	for range 3 {
		require.NoError(t, TryShield())
		require.NoError(t, os.WriteFile(filepath.Join(t.TempDir(), "x"), nil, 0o600))
	}
}

// What the node runs itself is evidence as it ended.
func TestNodeRunsCommands(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	e, err := shell(t.Context(), command{self: self, dir: dir}, "pwd; echo bad >&2; exit 5")
	require.NoError(t, err)
	require.Equal(t, []any{"bash", "pwd; echo bad >&2; exit 5", 5, dir + "\nbad\n"},
		[]any{e.Tool, e.Input, e.Exit, e.Head})
	e, err = shell(t.Context(), command{self: self, dir: dir}, "seq 100000 && sleep 600 &")
	require.NoError(t, err)
	require.Zero(t, e.Exit)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = shell(ctx, command{self: self, dir: dir}, "sleep 600")
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, Stopped, f.Kind)
}
