package machinecheck

import (
	"sync"
	"unicode/utf8"

	"cordelia/schemas"
)

// keep is how much of each end of an output is held while it is read, in bytes:
// what evidence shows, and room to find where a character begins.
const keep = schemas.EvidenceEnd + utf8.UTFMax

// ends holds both ends of what is written to it.
type ends struct {
	mu         sync.Mutex // a reader that is not waited for may still write
	head, tail []byte
}

// Write takes all of p.
func (e *ends) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(p)
	first := min(keep-len(e.head), n)
	e.head, p = append(e.head, p[:first]...), p[first:]
	p = p[max(0, len(p)-keep):]
	e.tail = append(e.tail[max(0, len(e.tail)+len(p)-keep):], p...)
	return n, nil
}

// String is the whole output if it is short, else its ends; what is not UTF-8
// shows as U+FFFD, a byte each.
func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string([]rune(string(e.head) + string(e.tail)))
}
