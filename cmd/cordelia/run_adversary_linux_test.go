package main

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	runner "cordelia/run"
)

// attempt is what an executor tries that is up to no good: a shell command that succeeds if it
// reached something. open says that it does where there is no sandbox.
type attempt struct {
	name, script string
	open         bool
}

// attempts are those of an executor that knows where everything lies. What its script finds
// for itself: RUNNER is the process of the run, OTHER the worktree of another worker, DOOR the
// folder of that one's socket.
func attempts() []attempt {
	return []attempt{
		{"a key of the user", `cat "$OUT/.ssh/id_ed25519"`, true},
		{"the user's folder", `ls "$OUT"`, true},
		{"a login of another program", `cat "$OUT/.aws/credentials"`, true},
		{"another repository", `cat "$OUT/src/exporter/secret.txt"`, true},
		{"the user's copy", `cat "$REPO/keep.sh"`, true},
		{"the node's home", `ls "$NODE"`, true},
		{"the node's database", `head -c 16 "$NODE/cordelia.db" | grep -q SQLite`, true},
		{"any file of the node's", `for f in $FILES; do cat "$f" && exit; done; exit 1`, true},
		{"the folder of all runs", `ls "$OUT/.cache/cordelia/runs"`, true},
		{"another worker's file", `cat "$OTHER/keep.sh"`, true},
		{"another worker's HOME", `ls "$OTHER/../home" || ls "$OTHER/.."`, true},
		{"another worker's worktree, to write", `: > "$OTHER/planted.txt"`, true},
		{"another worker's server", `printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":` +
			`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' |
			timeout 5 cordelia mcp --connect "$DOOR/mcp" | grep -q serverInfo`, false},
		{"what starts the user's shell", `echo x >> "$OUT/.bashrc"`, true},
		{"who may log in", `echo x >> "$OUT/.ssh/authorized_keys"`, true},
		{"a new file of the user's", `echo x > "$OUT/new.txt"`, true},
		{"the user's copy, to write", `echo '# x' >> "$REPO/keep.sh"`, true},
		{"a file emptied", `truncate -s 0 "$OUT/full.txt"`, true},
		{"a file moved in", `mv "$OUT/move.txt" moved.txt`, true},
		{"a file linked in", `ln "$OUT/notes.txt" linked.txt`, true},
		{"a symbolic link in", `ln -s "$OUT/notes.txt" l; cat l; at=$?; rm -f l; exit $at`, true},
		{"a hook", `echo true > "$REPO/.git/hooks/post-checkout"`, true},
		{"settings of the repository", `git --git-dir="$REPO/.git" config adversary.was here`, true},
		{"a branch", `git --git-dir="$REPO/.git" update-ref refs/heads/stolen HEAD`, true},
		{"settings of its own worktree", `: > "$(git rev-parse --git-dir)/config.worktree"`, true},
		{"a commit", `git -c user.name=x -c user.email=x@x commit --allow-empty -qm x`, true},
		{"the temporary folder of all", `echo x > "/tmp/$MARK"`, true},
		{"shared memory", `echo x > "/dev/shm/$MARK"`, true},
		{"the runner's environment", `cat "/proc/$RUNNER/environ"`, true},
		{"the runner's open files", `for f in /proc/$RUNNER/fd/*; do readlink "$f" && exit; done; exit 1`, true},
		{"the runner's folder", `ls "/proc/$RUNNER/cwd/"`, true},
		{"the runner's memory", `cat "/proc/$RUNNER/maps"`, true},
		{"a signal to the runner", `kill -0 "$RUNNER"`, true},
		{"a port that is not listed", `exec 3<> "/dev/tcp/127.0.0.1/$PORT"`, true},
		{"a terminal", `: > /dev/ptmx`, true},
		{"a file by a mount", `unshare -rm sh -c 'mount --bind "$OUT" /mnt && cat /mnt/notes.txt'`, true},
		{"a file by another root", `unshare -r chroot "$OUT" /bin/true || cat "/proc/$RUNNER/root$OUT/notes.txt"`, true},
		{"keys of its environment", `env | grep -E 'GITHUB_TOKEN|SSH_AUTH_SOCK|DBUS_SESSION|DOCKER_HOST|CORDELIA_HOME'`,
			false},
		{"a file that the user's shell left open", `grep SECRET <&7`, false},
		{"a file that was left open", `readlink /proc/$$/fd/* | grep -F "$NODE"`, false},
	}
}

// shellWord quotes text for a shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// tries makes the script of an executor that makes each attempt and writes down what it
// reached; it fails if that was anything. Only a client's worker looks for another worker.
func (h *theater) tries(list []attempt, port int, mark string) string {
	var files []string
	require.NoError(h, filepath.WalkDir(h.home(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	var b strings.Builder
	fmt.Fprintf(&b, `export OUT='%s' REPO='%s' NODE='%s' FILES='%s' PORT=%d MARK='%s' RUNNER= OTHER=/nowhere DOOR=/nowhere
`, h.dir, h.repo, h.home(), strings.Join(files, " "), port, mark)
	b.WriteString(`for p in /proc/[0-9]*; do
  case "$(tr '\0' ' ' < $p/cmdline 2> /dev/null)" in *" run "*"$MARK"*) RUNNER=${p#/proc/};; esac
done
arguments() { cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' '\n'; }
trees() {
  arguments | grep -o "\"$OUT/.cache/cordelia/runs/[^\"]*/tree\"" | tr -d '"'
  ls -d "$OUT"/.cache/cordelia/runs/*/*/tree 2> /dev/null
}
for n in $(seq 40); do
  [ -n "$CLAUDE_OUTSIDE" ] || break
  tree=$(trees | grep -v -x -F "$PWD" | head -1)
  if [ -n "$tree" ]; then
    OTHER=$tree
    DOOR=$(arguments | grep -F "\"$tree\"" | grep -o '"sockets":\["[^"]*' | cut -d'"' -f4 | head -1)
    break
  fi
  sleep 0.5
done
reached=0
try() {
  if bash -c "$2" > /dev/null 2>&1; then echo "reached: $1"; reached=$((reached + 1)); else echo "not: $1"; fi
}
{ echo "runner ${RUNNER:+found}, other $(basename "$OTHER"), door $(basename "$DOOR")"
`)
	for _, one := range list {
		fmt.Fprintf(&b, "try %s %s\n", shellWord(one.name), shellWord(one.script))
	}
	b.WriteString("} > report.txt\ngrep '^reached' report.txt\n[ $reached = 0 ]\n")
	return b.String()
}

// An executor that tries for what is not its own, and leaves a script that tries again when the
// node runs it, reaches nothing. Without the sandbox the same script reaches nearly all of it.
func TestAnAdversaryReachesNothing_INV_SHIELD(t *testing.T) {
	enforced, _, err := runner.Shielded()
	if err != nil {
		t.Skip(err)
	}
	for name, flags := range map[string][]string{"sandbox": nil, "none": {"--sandbox", "none"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			confined := len(flags) == 0
			command, work := "bash tries.sh", []string{"echo kept > notes.txt", "bash tries.sh"}
			if !confined { // where it fails, as it does where there is no sandbox
				command = "test -s report.txt"
				work = append(work, command)
			}
			h := newTheater(t, replay{Plan: fmt.Appendf(nil, `{"subtasks": [
  {"intent": "reach out", "sequence": 1, "tools": ["bash"], "success_criteria": [
    {"criterion": "nothing was reached", "mode": "verifiable", "command": %q}]},
  {"intent": "stand by", "sequence": 1, "tools": ["bash"], "success_criteria": [
    {"criterion": "it stood by", "mode": "verifiable", "command": "test -s stood.txt"}]}],
 "task_criteria": [{"criterion": "both are there", "mode": "verifiable", "command": "test -s report.txt -a -s stood.txt"}]}`,
				command),
				Work: map[string][]string{"reach out": work,
					"stand by": {"sleep 20; echo x > stood.txt", "test -s stood.txt"}}})
			secrets := map[string]string{".ssh/id_ed25519": "SECRET", ".aws/credentials": "SECRET", ".bashrc": "SECRET",
				"notes.txt": "SECRET", "full.txt": "SECRET", "move.txt": "SECRET", "src/exporter/secret.txt": "SECRET"}
			for name, text := range secrets {
				path := filepath.Join(h.dir, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close() //nolint:errcheck // it only answers
			mark := fmt.Sprintf("adversary-%d-%s", os.Getpid(), name)
			for _, dir := range []string{"/tmp", "/dev/shm"} {
				defer os.Remove(filepath.Join(dir, mark)) //nolint:errcheck // where it was reached
			}
			list := attempts()
			if !strings.Contains(strings.Join(enforced, "; "), "no signals") { // below version 6 of Landlock
				list = slices.DeleteFunc(list, func(a attempt) bool { return a.name == "a signal to the runner" })
			}
			h.write("tries.sh", h.tries(list, l.Addr().(*net.TCPAddr).Port, mark))
			h.git("add", "-A")
			h.git("commit", "-q", "-m", "tries")
			before := h.git("for-each-ref", "refs/heads/main") + h.git("config", "--list", "--local")

			cmd := h.cordelia(append([]string{"run", "--yes", "--parallel", "2", mark + " reaches nothing"}, flags...)...)
			cmd.Env = append(cmd.Env, "GITHUB_TOKEN=SECRET", "SSH_AUTH_SOCK="+h.dir, "DOCKER_HOST=SECRET",
				"DBUS_SESSION_BUS_ADDRESS=SECRET")
			notes, err := os.Open(filepath.Join(h.dir, "notes.txt"))
			require.NoError(t, err)
			defer notes.Close()                                    //nolint:errcheck // it was only read
			cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, notes} // 7
			out, _ := cmd.CombinedOutput()
			branch := "cordelia/" + h.taskIn(string(out))
			require.Zero(t, cmd.ProcessState.ExitCode(), "%s", out)
			require.Empty(t, h.processes())
			report := h.git("show", branch+":report.txt")
			t.Log(report)
			require.Contains(t, report, "runner found, other tree", "they were there to be reached")
			if !confined {
				for _, one := range list {
					require.Equal(t, one.open, strings.Contains(report, "reached: "+one.name+"\n"), one.name)
				}
				return
			}
			require.Contains(t, report, "door cordelia-door-")
			require.NotContains(t, report, "reached: ")
			require.Equal(t, len(list), strings.Count(report, "not: "))
			for name, text := range secrets {
				raw, err := os.ReadFile(filepath.Join(h.dir, name))
				require.NoError(t, err)
				require.Equal(t, text, string(raw))
			}
			require.NoFileExists(t, filepath.Join(h.dir, "new.txt"))
			require.Equal(t, before, h.git("for-each-ref", "refs/heads/main")+h.git("config", "--list", "--local"))
			require.Empty(t, h.git("for-each-ref", "refs/heads/stolen"))
		})
	}
}

// A worker is given no folder by which it could read the node's home or what others work on.
func TestNoWorkerIsGivenTheNodesHome(t *testing.T) {
	if _, _, err := runner.Shielded(); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	h := newTheater(t, twoParts())
	for _, dir := range []string{h.dir, filepath.Join(h.home(), "keys"), h.dir + "/.cache"} {
		flag := "--read=" + dir
		out, code := h.did("run", "--yes", flag, wish)
		require.Equal(t, 2, code, out)
		require.Contains(t, out, "workers could read "+h.dir)
		require.Contains(t, out, "name less by --read")
	}
	out, _ := h.did("task", "list")
	require.NotContains(t, out, wish, "nothing was begun")
}
