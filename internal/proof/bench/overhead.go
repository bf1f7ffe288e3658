//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What the scripted client does in a run: it answers each seat after this long.
const (
	clientPause = 2 * time.Second
	seatsInTurn = 4 // R1, R2, the three R3 at once, R4b; code judges the subtasks
)

// threeParts is a task of three subtasks at once, as the replayer plays it.
const threeParts = `{"pause": %d, "plan": {"subtasks": [%s], "task_criteria": [
 {"criterion": "all three are there", "mode": "verifiable", "command": "test -s a1 && test -s a2 && test -s a3"}]},
 "work": {"write a1": ["echo x > a1", "test -s a1"], "write a2": ["echo x > a2", "test -s a2"],
  "write a3": ["echo x > a3", "test -s a3"]}}`

// overhead measures what a run takes beyond the time of its client, and how soon the first
// seat is begun. The client is the replayer: a scripted program.
func (b *bench) overhead() (section, error) {
	var s section
	if _, err := exec.LookPath("git"); err != nil {
		return s, fmt.Errorf("a run needs git: %w", err)
	}
	t, err := b.tour()
	if err != nil {
		return s, err
	}
	var first, beyond, whole []float64
	for range b.runs {
		began := time.Now()
		if err := t.client(); err != nil {
			return s, err
		}
		own := seatsInTurn * time.Since(began)
		seat, total, err := t.run()
		if err != nil {
			return s, err
		}
		first = append(first, float64(seat.Microseconds())/1000)
		beyond = append(beyond, (total - own).Seconds())
		whole = append(whole, total.Seconds())
	}
	started, more := spreadOf(first), spreadOf(beyond)
	s.Rows = append(s.Rows, row{What: "command to the first seat", Unit: "ms", Ours: started}.holding("≤ 500 ms",
		started.Median <= 500),
		row{What: "a run of three subtasks, whole", Unit: "s", Ours: spreadOf(whole)},
		row{What: "of it beyond the client's own time", Unit: "s", Ours: more}.holding("≤ 1 s, or 5 %",
			more.Median <= max(1, 0.05*spreadOf(whole).Median)))
	s.Notes = append(s.Notes, fmt.Sprintf("the client is a scripted program that answers after %s; its own time is "+
		"%d calls one after the other, measured alone", clientPause, seatsInTurn))
	return s, nil
}

// tour is a user with a repository, a home and the replayer in the client's place.
type tour struct {
	binary, home, repo string
	env                []string
}

func (b *bench) tour() (*tour, error) {
	folder := filepath.Join(b.folder, "run")
	t := &tour{binary: b.binary, home: filepath.Join(folder, "home"), repo: filepath.Join(folder, "repo")}
	bin := filepath.Join(folder, "bin")
	for _, dir := range []string{bin, t.repo} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var parts []string
	for n := range 3 {
		parts = append(parts, fmt.Sprintf(`{"intent": "write a%d", "sequence": 1, "tools": ["bash"], "success_criteria": `+
			`[{"criterion": "a%d is there", "mode": "verifiable", "command": "test -s a%d"}]}`, n+1, n+1, n+1))
	}
	play := fmt.Sprintf(threeParts, clientPause.Milliseconds(), strings.Join(parts, ","))
	script := filepath.Join(bin, "play.json")
	if err := os.WriteFile(script, []byte(play), 0o600); err != nil {
		return nil, err
	}
	plain := []string{"HOME=" + folder, "CORDELIA_HOME=" + t.home, "USER=bench", "LANG=C.UTF-8", "TERM=dumb",
		"GIT_CONFIG_NOSYSTEM=1"}
	t.env = append(plain, "PATH="+bin+":"+os.Getenv("PATH"), "CLAUDE_REPLAY="+script)
	plain = append(plain, "PATH="+os.Getenv("PATH"))
	for _, c := range [][]string{
		{"go", "build", "-o", filepath.Join(bin, "claude"), "cordelia/internal/proof/replayer"},
		{t.binary, "setup"},
		{"git", "-C", t.repo, "init", "-q", "-b", "main"},
		{"git", "-C", t.repo, "-c", "user.name=u", "-c", "user.email=u@x", "commit", "-q", "--allow-empty", "-m", "begin"},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		if c[0] != "go" {
			cmd.Env = plain
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(c[:2], " "), err, out)
		}
	}
	return t, nil
}

// client asks the client alone, once, as a seat does.
func (t *tour) client() error {
	cmd := exec.Command(filepath.Join(filepath.Dir(t.home), "bin", "claude"))
	cmd.Env, cmd.Stdin = t.env, strings.NewReader(`Perceiver (R1) "request": "x"`)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the replayer: %w: %s", err, out)
	}
	return nil
}

// run has the task done, and says when the first seat was begun and when the run was over.
func (t *tour) run() (seat, total time.Duration, err error) {
	cmd := exec.Command(t.binary, "run", "--yes", "--json", "--parallel", "3", "write a1, a2 and a3")
	var bad bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = t.repo, t.env, &bad
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	lines := bufio.NewScanner(out)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		var e struct{ Event string }
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Event == "seat" && seat == 0 {
			seat = time.Since(began)
		}
	}
	if err := cmd.Wait(); err != nil {
		return 0, 0, fmt.Errorf("cordelia run: %w: %s", err, bad.Bytes())
	}
	return seat, time.Since(began), nil
}
