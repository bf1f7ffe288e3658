package main

import (
	"fmt"
	"time"
)

// progress tells a person at a terminal that something takes longer than a
// second, until the returned function is called.
func (a *app) progress(what string) (done func()) {
	if columns(a.errOut) == 0 || a.asJSON {
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
				fmt.Fprintf(a.errOut, "\r%s … %d s", what, int(time.Since(start).Seconds()))
				shown = true
			case <-stop:
				if shown {
					fmt.Fprint(a.errOut, "\r\x1b[K")
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
