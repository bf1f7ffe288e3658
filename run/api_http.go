package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"cordelia/internal/endpoint"
	"cordelia/schemas"
	"cordelia/work"
)

// Bounds of an exchange.
const (
	maxReply     = 64 << 20    // bytes of a stream
	maxComplaint = 600         // bytes that are kept of what a server says is wrong
	exchanges    = 4           // of what may pass by itself
	longestWait  = time.Minute // within a call; a longer one postpones the seat
)

// wire is how one kind of API words a conversation.
type wire interface {
	path() string
	sign(h http.Header, k endpoint.Key)
	request(t talk) ([]byte, error)
	stream() replyReader
}

// replyReader puts a reply together from the events of its stream.
type replyReader interface {
	// read takes the data of an event and reports whether it was the last.
	read(data []byte) (done bool, f *failure)
	// end gives the reply; ok is false if it broke off.
	end() (r reply, ok bool)
}

// failure is why an exchange gave no reply.
type failure struct {
	fault   *Fault
	status  int           // of HTTP, 0 = it came to none
	passing bool          // the same may work another time
	after   time.Duration // how long the server asked to wait
}

// rejected reports whether the server did not take the request as it was worded.
func (f *failure) rejected() bool {
	return f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity
}

// errSilent ends an exchange in which nothing comes.
var errSilent = errors.New("nothing came for too long")

// exchange asks for one reply, and asks again after an error that may pass by itself. It
// reports the usage of each try.
func (a *API) exchange(ctx context.Context, t talk, limits Limits, used func(work.Usage)) (reply, *failure) {
	for attempt, pause := 1, a.pause; ; attempt, pause = attempt+1, 2*pause {
		r, f := a.try(ctx, t, limits)
		if u := r.usage; u.Input+u.Cached+u.Written+u.Output > 0 {
			u.Cost = work.UnknownCost
			used(u)
		}
		if f == nil || !f.passing || attempt == exchanges || ctx.Err() != nil {
			return r, f
		}
		wait := max(f.after, pause/2+rand.N(pause))
		if wait > longestWait {
			return r, f
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return r, &failure{fault: ended(ctx)}
		}
	}
}

// ended words why a context is over.
func ended(ctx context.Context) *Fault {
	cause := context.Cause(ctx)
	if errors.Is(cause, errTotal) || errors.Is(cause, errSilent) {
		return faultf(Hung, "%v", cause)
	}
	return faultf(Stopped, "%v", cause)
}

// try makes one exchange: it posts the request and reads the stream to its end.
func (a *API) try(ctx context.Context, t talk, limits Limits) (reply, *failure) {
	body, err := a.wire.request(t)
	if err != nil {
		return reply{}, &failure{fault: faultf(NoStart, "the request cannot be worded: %v", err)}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := time.AfterFunc(within(limits.First), func() { stop(errSilent) })
	defer watch.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.to.String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, &failure{fault: faultf(NoStart, "%v", err)}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", "cordelia")
	a.wire.sign(req.Header, a.Key)
	resp, err := a.http.Do(req)
	if err != nil {
		return reply{}, a.broken(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // what is needed of it was read
	if resp.StatusCode != http.StatusOK {
		return reply{}, a.refused(resp)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return reply{}, &failure{fault: faultf(Garbled, "%s answers with %q and does not stream", a.to.Host, kind)}
	}
	in := a.wire.stream()
	f := readEvents(resp.Body, func() { watch.Reset(within(limits.Idle)) }, in.read)
	r, whole := in.end()
	switch {
	case f != nil:
		f.fault.Msg = a.Key.Hide(f.fault.Msg)
		return r, f
	case whole:
		return r, nil
	case ctx.Err() != nil:
		return r, &failure{fault: ended(ctx), passing: errors.Is(context.Cause(ctx), errSilent)}
	}
	return r, &failure{fault: faultf(Garbled, "its stream broke off"), passing: true}
}

// within is a limit of time as a timer takes it: none is a day.
func within(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 24 * time.Hour
	}
	return limit
}

// broken words an exchange that came to no status.
func (a *API) broken(ctx context.Context, err error) *failure {
	if ctx.Err() != nil {
		return &failure{fault: ended(ctx), passing: errors.Is(context.Cause(ctx), errSilent)}
	}
	kind := Crashed
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		kind = NoStart
	}
	return &failure{fault: faultf(kind, "%s cannot be reached: %v", a.to.Host, endpoint.Reason(err)), passing: true}
}

// statusOverloaded is Anthropic's for a server that has too much to do.
const statusOverloaded = 529

// refused words a status that is none of success.
func (a *API) refused(resp *http.Response) *failure {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) //nolint:errcheck // its status says enough
	text := fmt.Sprintf("%s answers %d: %s", a.to.Host, resp.StatusCode, a.complaint(raw))
	f := &failure{status: resp.StatusCode, after: endpoint.RetryAfter(resp.Header.Get("Retry-After"), time.Now())}
	kind := Crashed
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests, status == statusOverloaded:
		kind, f.passing = Limit, true
	case status == http.StatusRequestTimeout, status >= 500:
		f.passing = true
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		kind = Unpaid
	case status == http.StatusNotFound, status/100 == 3:
		kind = NoStart // the address or the model is wrong
	}
	f.fault = faultf(kind, "%s", text)
	if kind == Limit && f.after > 0 {
		f.fault.Until = time.Now().Add(f.after)
	}
	return f
}

// complaint is what a server says is wrong, without the key, which servers quote.
func (a *API) complaint(raw []byte) string {
	var e struct {
		Error   serverError `json:"error"`
		Message string      `json:"message"`
	}
	text := string(raw)
	if json.Unmarshal(raw, &e) == nil && e.Error.Message != "" {
		text = e.Error.Message
	}
	return schemas.Shorten(strings.ToValidUTF8(a.Key.Hide(text), ""), maxComplaint)
}

// serverError is an error as all of the APIs give it.
type serverError struct {
	Type    string    `json:"type"`
	Code    errorCode `json:"code"`
	Message string    `json:"message"`
}

// errorCode is a text, or a number of some servers.
type errorCode string

// UnmarshalJSON takes any value.
func (c *errorCode) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*c = errorCode(strings.Trim(string(raw), `"`))
	}
	return nil
}

// failure reads an error that comes within a stream.
func (e serverError) failure() *failure {
	kind, passing := Crashed, true
	switch e.Type + " " + string(e.Code) {
	case "rate_limit_error ", "overloaded_error ", " rate_limit_exceeded":
		kind = Limit
	case "invalid_request_error ", "authentication_error ", "permission_error ":
		passing = false
	}
	return &failure{fault: faultf(kind, "its stream ends with an error: %s", e.Message), passing: passing}
}

// readEvents hands on the data of each event of a stream (Server-Sent Events), until one is
// the last or the stream ends. alive is called for each line.
func readEvents(body io.Reader, alive func(), take func([]byte) (bool, *failure)) *failure {
	r := bufio.NewReaderSize(io.LimitReader(body, maxReply), 64<<10)
	var data []byte
	for {
		line, err := readLine(r)
		alive()
		line = bytes.TrimRight(line, "\r\n")
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(rest, []byte(" "))...), '\n')
		}
		if (len(line) == 0 || err != nil) && len(data) > 0 {
			done, f := take(bytes.TrimSpace(data))
			if data = nil; done || f != nil {
				return f
			}
		}
		if err != nil {
			return nil
		}
	}
}
