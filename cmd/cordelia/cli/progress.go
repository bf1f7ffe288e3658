package cli

import (
	"fmt"
	"time"
)

// Progress tells a person at a terminal that something takes longer than a
// second, until the returned function is called.
func (a *App) Progress(what string) (done func()) {
	if Columns(a.ErrOut) == 0 || a.AsJSON {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		shown := false
		for {
			select {
			case <-tick.C:
				fmt.Fprintf(a.ErrOut, "\r%s … %d s", what, int(time.Since(start).Seconds()))
				shown = true
			case <-stop:
				if shown {
					fmt.Fprint(a.ErrOut, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
