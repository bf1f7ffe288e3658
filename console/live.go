package console

import (
	"fmt"
	"net/http"
	"time"

	"cordelia/node"
)

const (
	beat      = 15 * time.Second       // between comments on a quiet stream
	calm      = 300 * time.Millisecond // at least between two messages
	lastsMost = time.Hour              // of a stream: the browser opens another
)

// live notifies a page of changes. A message's id is the number of the newest audit entry; the
// page then asks for the change itself, with its own rights. A page that reconnects with an
// older number is notified at once.
func (c *Console) live(w http.ResponseWriter, r *http.Request) {
	v, ok := c.visitor(w, r)
	if !ok {
		return
	}
	woken, leave := c.node.Subscribe(node.Commits)
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	quiet := time.NewTicker(beat)
	defer quiet.Stop()
	end := time.NewTimer(lastsMost)
	defer end.Stop()
	told := r.Header.Get("Last-Event-ID")
	for {
		at, err := c.node.Newest(r.Context(), v.caller.Principal)
		if over(err) {
			fmt.Fprint(w, "event: over\ndata: \n\n")
			out.Flush() //nolint:errcheck // the browser is gone
		}
		if err != nil {
			return // without a word the browser comes back
		}
		if now := fmt.Sprint(at); now != told {
			if told = now; write(w, out, fmt.Sprintf("id: %s\nevent: changed\ndata: %[1]s\n\n", now)) != nil {
				return
			}
			select { // one change follows another closely: the page asks once for several
			case <-time.After(calm):
			case <-r.Context().Done():
				return
			}
		}
		select {
		case <-woken:
		case <-quiet.C:
			if write(w, out, ": \n\n") != nil {
				return
			}
		case <-end.C:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func write(w http.ResponseWriter, out *http.ResponseController, text string) error {
	if err := out.SetWriteDeadline(time.Now().Add(beat)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(w, text); err != nil {
		return err
	}
	return out.Flush()
}
