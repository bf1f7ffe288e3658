package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// command is a client's process and how it is watched.
type command struct {
	program     string
	args        []string
	dir         string
	stdin       string
	self        string // path of this program
	shield      Shield
	limits      Limits
	environment func(name string) bool // the client's own variables
	family      *family                // that its processes are
	held        []*os.File             // locks that last until its processes have ended: one at most
}

// Bounds of what is read of a client.
const (
	maxLine   = 16 << 20 // bytes of a line of its stream
	maxStderr = 4 << 10  // bytes that are kept of what it complains
	graceKill = 2 * time.Second
	reapFor   = 5 * time.Second // how long a supervisor goes on killing what a client left
)

// everywhere are the variables that every client gets.
var everywhere = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ",
	"TMPDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "GOPATH", "GOMODCACHE", "GOROOT", "GOPROXY", "GOFLAGS",
	"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME"}

// environ builds an environment from a list: nothing else of this process is handed on.
func (c command) environ() []string {
	var out []string
	for _, one := range os.Environ() {
		name, _, _ := strings.Cut(one, "=")
		if slices.Contains(everywhere, name) || c.environment != nil && c.environment(name) {
			out = append(out, one)
		}
	}
	return c.shield.environ(out)
}

// reader gives the events of a line of a client's stream.
type reader func(line []byte, at time.Time) ([]Event, error)

// converse runs a client to its end and reads its stream. Nothing it started, and did
// not detach from its process group, runs on afterwards.
func converse(ctx context.Context, c command, read reader, emit func(Event)) (Answer, error) {
	p, err := c.start()
	if err != nil {
		return Answer{}, faultf(NoStart, "%s: %v", c.program, err)
	}
	w := watching{limits: c.limits, emit: emit}
	fault := w.follow(ctx, p, read)
	failed := p.end(fault == nil)
	if left := p.left(); left != "" {
		emit(Event{Kind: Left, At: time.Now(), Text: left})
	}
	switch {
	case fault != nil:
		return w.answer, fault
	case w.ended != nil && w.ended.Fault != nil:
		return w.answer, w.ended.Fault
	case w.ended != nil:
		return w.answer, nil
	case w.limited != nil:
		return w.answer, w.limited
	case w.bad > 0:
		return w.answer, faultf(Garbled, "%d lines of its stream are none of its format; %s", w.bad, p.complaint())
	case failed != nil:
		return w.answer, faultf(Crashed, "%v; %s", failed, p.complaint())
	}
	return w.answer, faultf(Garbled, "its stream ended without a result; %s", p.complaint())
}

// watching follows one stream.
type watching struct {
	limits  Limits
	emit    func(Event)
	answer  Answer
	ended   *Event
	limited *Fault
	bad     int // lines that are none of the format
}

// follow reads lines until they end; the fault says why it did not wait for that. A process
// that is over, or has printed its result, may leave a child that keeps its stream open: follow
// ends such a stream soon after.
func (w *watching) follow(ctx context.Context, p *process, read reader) *Fault {
	var total <-chan time.Time
	if w.limits.Total > 0 {
		total = time.After(w.limits.Total)
	}
	exited := p.exited
	var last <-chan time.Time // once it is over
	for first := true; ; {
		patience := w.limits.Idle
		if first && w.limits.First > 0 {
			patience = w.limits.First
		}
		var idle <-chan time.Time
		if patience > 0 && last == nil {
			idle = time.After(patience)
		}
		if w.ended != nil && last == nil {
			last, idle = time.After(graceKill), nil
		}
		select {
		case <-last:
			return nil
		case <-ctx.Done():
			return faultf(Stopped, "%v", context.Cause(ctx))
		case <-total:
			return faultf(Hung, "it was not done within %s", w.limits.Total)
		case <-exited:
			exited = nil
			if last == nil {
				last = time.After(graceKill)
			}
		case <-idle:
			if first {
				return faultf(Hung, "nothing came within %s", patience)
			}
			return faultf(Hung, "nothing came for %s", patience)
		case line, more := <-p.lines:
			if !more {
				return nil
			}
			if first = false; len(bytes.TrimSpace(line)) > 0 {
				w.line(line, read)
			}
		}
	}
}

func (w *watching) line(line []byte, read reader) {
	events, err := read(line, time.Now())
	if err != nil {
		w.bad++
	}
	for _, e := range events {
		w.take(e)
	}
}

// take notes an event. Of two results the first counts.
func (w *watching) take(e Event) {
	switch e.Kind {
	case Began:
		w.answer.Model, w.answer.Payer = e.Model, e.Payer
	case Limited:
		w.limited = e.Fault
	case Used:
		w.answer.Usage = e.Usage
	case Ended:
		if w.ended != nil {
			return
		}
		w.ended, w.answer.Usage, w.answer.Structured = &e, e.Usage, e.Answer
	}
	w.emit(e)
}

// process is a client that runs.
type process struct {
	cmd     *exec.Cmd
	stdout  *os.File
	stderr  *tail
	lines   chan []byte   // what it prints, line by line, to the end of its stream
	exited  chan struct{} // closed once it is over
	failed  error         // how it ended; to be read once exited is closed
	dropped chan struct{} // closed once no reader takes lines any more
	life    *os.File      // the supervisor ends everything once it is closed
}

func (c command) start() (*process, error) {
	program, args, err := c.shield.wrap(c.self, c.program, c.args)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close() //nolint:errcheck // the process has its own
	p := &process{cmd: exec.Command(program, args...), stdout: r, stderr: &tail{}, lines: make(chan []byte),
		exited: make(chan struct{}), dropped: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdin = c.dir, c.environ(), strings.NewReader(c.stdin)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = w, p.stderr, graceKill
	ownGroup(p.cmd)
	end, life, err := os.Pipe()
	if err != nil {
		r.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	defer end.Close() //nolint:errcheck // the supervisor has its own
	p.cmd.ExtraFiles, p.life = append([]*os.File{end}, c.held...), life
	if err := c.family.start(p.cmd); err != nil {
		r.Close()    //nolint:errcheck // nothing was read
		life.Close() //nolint:errcheck // nothing was started
		return nil, err
	}
	go p.read()
	go func() {
		p.failed = p.cmd.Wait()
		c.family.end(p.cmd.Process.Pid)
		close(p.exited)
	}()
	return p, nil
}

// read hands on what the process prints.
func (p *process) read() {
	defer close(p.lines)
	r := bufio.NewReaderSize(p.stdout, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 {
			select {
			case p.lines <- line:
			case <-p.dropped:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line; of one that is too long only the beginning is kept.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(line) < maxLine {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// end ends the process and what is left of its group, and says how it ended by itself;
// one whose stream is over gets a moment for that.
func (p *process) end(over bool) error {
	moment := time.Duration(0)
	if over {
		moment = graceKill
	}
	var failed error
	select {
	case <-p.exited:
		failed = p.failed
	case <-time.After(moment):
	}
	p.life.Close() //nolint:errcheck // that it is closed is all it says
	close(p.dropped)
	select { // the supervisor ends what is left, and itself
	case <-p.exited:
	case <-time.After(2 * reapFor):
	}
	killGroup(p.cmd)
	<-p.exited
	p.stdout.Close() //nolint:errcheck // nothing more is read
	return failed
}

// leftRunning is what a supervisor says that could not end all that a client started: a chain
// of processes, each of which starts the next one and ends, outruns it.
const leftRunning = "processes that it started go on running: they start new ones faster than they can be ended"

// left says that something of the client goes on running, "" if nothing does.
func (p *process) left() string {
	if strings.Contains(p.stderr.String(), leftRunning) {
		return leftRunning
	}
	return ""
}

// complaint is the end of what it wrote to stderr.
func (p *process) complaint() string {
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return "it said: " + text
	}
	return "it said nothing"
}

// tail keeps the last bytes written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.kept), "") }
