package main

import (
	"slices"
	"sync"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/pipeline/controller"
	runner "cordelia/run"
)

// liveBoard draws a run at the terminal: the task with its criteria, and one line a seat.
// Notes stay above it.
type liveBoard struct {
	*cli.App
	seats *seatList

	mu     sync.Mutex
	canvas cli.Canvas
	task   *taskBoard
	still  bool // nothing is drawn: the user is asked something, or the run is over
	quit   chan struct{}
}

func newLiveBoard(a *cli.App, seats *seatList) *liveBoard {
	b := &liveBoard{App: a, seats: seats, canvas: cli.Canvas{Out: a.ErrOut}, quit: make(chan struct{})}
	go func() {
		tick := time.NewTicker(watchTick) // for the times
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.draw(nil)
			case <-b.quit:
				return
			}
		}
	}()
	return b
}

// draw does something and draws what follows.
func (b *liveBoard) draw(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if change != nil {
		change()
	}
	if b.still || b.task == nil {
		return
	}
	v := *b.task
	v.running, v.result, v.proposed = b.seats.all(), nil, nil
	wide, high := platform.TerminalSize(b.canvas.Out)
	b.canvas.Draw(v.board(wide, b.Colours()), wide, high, "cordelia task show has it all")
}

// Note prints a line above the board.
func (b *liveBoard) Note(text string) {
	b.draw(func() {
		b.canvas.Clear()
		b.App.Note("%s", cli.Clean(text))
	})
}

// Task draws how the task stands.
func (b *liveBoard) Task(v controller.View) {
	v.Outcomes = nil // a reader looks at their evidence afterwards
	now, err := boardOf(b.App, v)
	if err != nil {
		return
	}
	b.draw(func() { b.task = now })
}

// Seat draws how a seat stands.
func (b *liveBoard) Seat(s runner.SeatState) {
	b.seats.put(s)
	b.draw(nil)
}

// pause removes the board, until it is resumed.
func (b *liveBoard) pause() {
	b.draw(func() {
		b.canvas.Clear()
		b.still = true
	})
}

func (b *liveBoard) resume() { b.draw(func() { b.still = false }) }

// end removes the board for good and leaves its seats there.
func (b *liveBoard) end() {
	b.pause()
	close(b.quit)
	if list := b.seats.all(); len(list) > 0 {
		wide := cli.Columns(b.ErrOut)
		text := seatTable(list, time.Now(), wide).Render(wide, b.Colours())
		b.ErrOut.WriteString(text + "\n") //nolint:errcheck // as any print
	}
}

// seatList is how the seats of a run stand, and stood.
type seatList struct {
	mu   sync.Mutex
	list []runner.SeatState // in the order in which they were begun
}

// put notes how a seat stands, and gives how it stood before.
func (l *seatList) put(s runner.SeatState) (before runner.SeatState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.list,
		func(o runner.SeatState) bool { return o.WorkID == s.WorkID && o.Agent == s.Agent })
	if at < 0 {
		l.list = append(l.list, s)
		return before
	}
	before, l.list[at] = l.list[at], s
	return before
}

func (l *seatList) all() []runner.SeatState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}
