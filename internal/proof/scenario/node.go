package scenario

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"cordelia/internal/drive"
)

// Clients, and what they get, are those of drive.
type (
	Client  = drive.Client
	Answer  = drive.Answer
	Process = drive.Process
	Remote  = drive.Remote
)

// Build compiles the command into folder, with the movable clock, and returns
// the path of the binary.
func Build(folder string) (string, error) {
	binary := filepath.Join(folder, "cordelia")
	return binary, drive.Build(binary, "testclock")
}

// Node is a home folder, the processes that serve it, and their clocks.
type Node struct {
	*drive.Node
	clock string // the file that says what its clocks show
	since string // the instant that they run slowly since, if they do
	moved time.Duration

	// vectors, if set, waits until every item has its vector, which processes make beside calls:
	// a search then finds the same each time.
	vectors func(context.Context) error
}

// NewNode makes a node with an empty home in folder. Kill it at the end.
func NewNode(binary, folder string) *Node {
	clock := filepath.Join(folder, "clock")
	return &Node{clock: clock, Node: &drive.Node{Binary: binary, Home: filepath.Join(folder, "home"),
		Env: []string{"CORDELIA_TEST_CLOCK=" + clock, "USER=tester", "HOME=" + folder}}}
}

func (n *Node) awaitVectors(ctx context.Context) error {
	if n.vectors == nil {
		return nil
	}
	return n.vectors(ctx)
}

// SlowClock lets its clocks begin with the minute and run slowly: no minute, lease or token ends
// because the machine is busy.
func (n *Node) SlowClock() error {
	n.since = " " + time.Now().Truncate(time.Minute).Format(time.RFC3339Nano)
	return n.MoveClock(0)
}

// MoveClock moves the clocks of all its processes, running ones too.
func (n *Node) MoveClock(by time.Duration) error {
	n.moved += by
	// Renamed into place: a process never reads half of it.
	if err := os.WriteFile(n.clock+".new", []byte(n.moved.String()+n.since), 0o600); err != nil {
		return err
	}
	return os.Rename(n.clock+".new", n.clock)
}
