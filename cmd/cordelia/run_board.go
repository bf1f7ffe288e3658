package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/pipeline/controller"
	runner "cordelia/run"
	"cordelia/schemas"
)

// runBoard shows a run: drawn at a terminal, as lines elsewhere, as events with --json.
type runBoard struct {
	runner.Board
	seats  seatList
	live   *liveBoard // nil elsewhere than at a terminal
	folder string     // where other terminals look what the seats do, "" = nowhere
	done   func()
}

// newRunBoard makes the board of a run whose worktrees are made in a folder.
func newRunBoard(a *cli.App, folder string) *runBoard {
	b := &runBoard{folder: folder}
	switch {
	case a.AsJSON:
		b.Board = &runEvents{App: a, seats: &b.seats}
	case cli.Drawable(a.ErrOut):
		b.live = newLiveBoard(a, &b.seats)
		b.Board = b.live
	default:
		b.Board = &runLines{App: a, seats: &b.seats}
	}
	ctx, stop := context.WithCancel(context.Background())
	var sharing sync.WaitGroup
	sharing.Go(func() { b.share(ctx) })
	b.done = sync.OnceFunc(func() {
		stop()
		sharing.Wait()
		if b.live != nil {
			b.live.end()
		}
	})
	return b
}

// pause removes what is drawn, for a question to stand there, until it is resumed.
func (b *runBoard) pause() {
	if b.live != nil {
		b.live.pause()
	}
}

func (b *runBoard) resume() {
	if b.live != nil {
		b.live.resume()
	}
}

// share tells other terminals what the seats do, until the run is over.
func (b *runBoard) share(ctx context.Context) {
	if b.folder == "" {
		return
	}
	defer os.Remove(filepath.Join(b.folder, sharedFile)) //nolint:errcheck // it grows old
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		shareSeats(b.folder, b.seats.all()) //nolint:errcheck // another terminal does not see it
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// runEvents prints a run as events, one a line.
type runEvents struct {
	*cli.App
	seats  *seatList
	before []byte
}

// runEvent is what --json prints of a run, one a line.
type runEvent struct {
	At    string            `json:"at"`
	Event string            `json:"event"` // task, seat, note or end
	Task  *controller.View  `json:"task,omitempty"`
	Seat  *runner.SeatState `json:"seat,omitempty"`
	Note  string            `json:"note,omitempty"`
	End   *runEnd           `json:"end,omitempty"`
}

func emit(a *cli.App, e runEvent) {
	e.At = time.Now().UTC().Format(time.RFC3339Nano)
	if raw, err := json.Marshal(e); err == nil {
		fmt.Fprintf(a.Out, "%s\n", ops.EscapeJSON(raw))
	}
}

// Note prints a note.
func (b *runEvents) Note(text string) { emit(b.App, runEvent{Event: "note", Note: text}) }

// Task prints the task, if it changed.
func (b *runEvents) Task(v controller.View) {
	if raw, err := json.Marshal(v); err == nil && string(raw) != string(b.before) {
		b.before = raw
		emit(b.App, runEvent{Event: "task", Task: &v})
	}
}

// Seat prints how a seat stands.
func (b *runEvents) Seat(s runner.SeatState) {
	b.seats.put(s)
	emit(b.App, runEvent{Event: "seat", Seat: &s})
}

// runLines prints what changes of a run, one a line.
type runLines struct {
	*cli.App
	seats  *seatList
	before controller.View
}

// Note prints a line.
func (b *runLines) Note(text string) { b.App.Note("%s", cli.Clean(text)) }

// Task prints what changed of the task.
func (b *runLines) Task(v controller.View) {
	old := b.before
	b.before = v
	if v.State != old.State || v.Round != old.Round {
		line := "task " + string(v.State)
		if v.Round > 0 {
			line += fmt.Sprintf(", round %d", v.Round)
		}
		b.line("%s", line)
	}
	if len(v.Rounds) > len(old.Rounds) {
		last := v.Rounds[len(v.Rounds)-1]
		b.line("round %d failed, loss %.2f: %s", last.Round, last.L, cli.Clean(string(last.Directive)))
	}
	known := map[string]schemas.SubTaskState{}
	for _, s := range old.SubTasks {
		known[s.SubTaskID] = s.State
	}
	for _, s := range v.SubTasks {
		if known[s.SubTaskID] != s.State {
			b.line("  %s: %s%s", cli.Clean(string(s.State)), cli.Clean(s.Intent), criteriaWord(s))
		}
	}
}

// criteriaWord says how many criteria of a subtask pass.
func criteriaWord(s controller.SubTaskView) string {
	passed := 0
	for _, c := range s.Criteria {
		if strings.HasPrefix(c, string(schemas.Pass)+":") {
			passed++
		}
	}
	return fmt.Sprintf(" (%d of %d criteria pass)", passed, len(s.Criteria))
}

// Seat prints how a seat stands, when that changed.
func (b *runLines) Seat(s runner.SeatState) {
	before := b.seats.put(s)
	if before.Phase == s.Phase && before.Calls == s.Calls && before.Doing == s.Doing {
		return
	}
	line := fmt.Sprintf("  %-3s %-12s %s", s.Role, s.Client, s.Phase)
	if s.Doing != "" {
		line += ": " + cli.Cut(cli.Clean(s.Doing), 80)
	}
	if s.Phase == runner.Filed {
		line += fmt.Sprintf(" after %s, %s", s.Ended.Sub(s.Began).Round(100*time.Millisecond),
			cli.SpentWords(s.Usage))
	}
	b.line("%s", line)
}

func (b *runLines) line(format string, args ...any) { fmt.Fprintf(b.ErrOut, format+"\n", args...) }
