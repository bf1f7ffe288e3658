package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
)

// StdioOptions tunes [ServeStdio]; a zero field means its default.
type StdioOptions struct {
	MaxLine     int           // bytes in one message; default 1 MiB
	MaxInFlight int           // requests handled at once; default 256
	Grace       time.Duration // how long calls may go on after the end of input before they are cancelled; default 1 s
	Drain       time.Duration // how long, from the end of input, their answers are waited for; default 10 s
}

func (o StdioOptions) withDefaults() StdioOptions {
	if o.MaxLine <= 0 {
		o.MaxLine = maxMessage
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = maxInFlight
	}
	if o.Grace <= 0 {
		o.Grace = time.Second
	}
	if o.Drain <= 0 {
		o.Drain = 10 * time.Second
	}
	return o
}

// ServeStdio serves one client over newline-delimited JSON (MCP stdio
// transport) until in ends, ctx is done, or out fails. Nothing but protocol
// messages is written to out. The caller is the principal in ctx.
//
// At the end of input every accepted request is still answered: streams end at
// once, calls still running after Grace are cancelled, and those that ignore
// even that are abandoned after Drain. The error is nil at the end of input,
// the context's cause, or why reading or writing failed.
//
// When ctx ends first, in is closed if it can be (of a pipe, the copy that is
// read); a Read which does not return then keeps its goroutine until it does.
func ServeStdio(ctx context.Context, r *Router, in io.Reader, out io.Writer, opts StdioOptions) error {
	opts = opts.withDefaults()
	in, restore := pollable(in)
	defer restore()
	principal, _ := PrincipalFrom(ctx)
	box := newOutbox(lines(out))
	p := newPeer(r, principal, box, opts.MaxInFlight)

	handling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer r.attach(handling, p.sess, stop)()

	ended := make(chan error, 1)
	go func() {
		ended <- eachLine(in, opts.MaxLine, func(line []byte) bool { return p.receive(handling, line) },
			func(id json.RawMessage) {
				box.put(Errorf(CodeInvalidRequest, "a message may have at most %d bytes", opts.MaxLine).response(id))
			})
	}()

	var err error
	select {
	case err = <-ended:
	case <-handling.Done():
		err = context.Cause(handling)
	case <-box.done:
		err = box.failure()
		stop(err)
	}
	if c, ok := in.(io.Closer); ok && err != nil {
		_ = c.Close() // unblocks the reader; its error says nothing new
	}
	if !p.drain(stop, opts.Grace, opts.Drain) {
		err = errors.Join(err, errors.New("calls were abandoned at the end of input"))
	}
	return errors.Join(err, box.failure())
}

// eachLine calls take with every non-empty line of in, without its newline, until take
// says no. A longer line is skipped to its end; tooLong then gets the id of the request
// in it, nil if none was found. The slices are the callee's to keep. It returns nil at
// the end of input, or when take says so.
func eachLine(in io.Reader, limit int, take func(line []byte) bool, tooLong func(id json.RawMessage)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	var long *idScan // of a line that is too long
	for {
		part, err := r.ReadSlice('\n')
		if long != nil {
			long.read(part)
		} else if line = append(line, part...); len(withoutEnd(line)) > limit {
			long = &idScan{}
			long.read(line)
			line = nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		body := withoutEnd(line)
		if long != nil {
			tooLong(long.id())
		} else if len(bytes.TrimSpace(body)) > 0 && !take(body) {
			return nil
		}
		line, long = nil, nil
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// withoutEnd is a line without what ends it, one of each: a line may hold more.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
