package console

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listen opens a page's stream; what it hears comes event by event.
func (b *browser) listen(ctx context.Context, last string) *bufio.Reader {
	b.T.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.at+Root+"live", nil)
	require.NoError(b.T, err)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Client{Jar: b.http.Jar}).Do(r)
	require.NoError(b.T, err)
	b.T.Cleanup(func() { resp.Body.Close() }) //nolint:errcheck // it was read
	require.Equal(b.T, http.StatusOK, resp.StatusCode)
	return bufio.NewReader(resp.Body)
}

// heard is the next event of a stream, and its id.
func heard(t *testing.T, stream *bufio.Reader) (event, id string) {
	t.Helper()
	for {
		line, err := stream.ReadString('\n')
		require.NoError(t, err)
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
		case name == "id":
			id = value
		case name == "event":
			event = value
		case line == "\n" && event != "":
			return event, id
		}
	}
}

// A page that is open is told of a change, and one that comes back of what it missed, once
// however much that is; what it then fetches is as new as it was told.
func TestPagesFollowWhatHappens(t *testing.T) {
	b := newBrowser(t)
	b.login()
	stream := b.listen(t.Context(), "")
	event, first := heard(t, stream)
	require.Equal(t, "changed", event)
	b.written(map[string]any{"type": "learning", "data": map[string]any{"type": "insight", "content": "a light went out"}})
	event, second := heard(t, stream)
	require.Equal(t, "changed", event)
	require.NotEqual(t, first, second)

	for i := range 300 {
		b.written(map[string]any{"type": "learning", "data": map[string]any{"type": "insight",
			"content": fmt.Sprintf("light %d went out", i)}})
	}
	again := b.listen(t.Context(), first)
	event, newest := heard(t, again)
	require.Equal(t, "changed", event)
	require.Contains(t, b.page("memory"), `data-at="`+newest+`"`)
	require.Contains(t, b.page("memory?as=claude-code"), "light 299 went out")
}

// The stream of a session that ended says so and closes.
func TestAStreamEndsWithItsSession(t *testing.T) {
	b := newBrowser(t)
	b.login()
	stream := b.listen(t.Context(), "")
	_, _ = heard(t, stream)
	status, _, _ := b.post("logout", url.Values{})
	require.Equal(t, http.StatusSeeOther, status)
	for { // what was under way may be told before
		if event, _ := heard(t, stream); event == "over" {
			break
		}
	}
	_, err := stream.ReadString('\n')
	require.Error(t, err)
}
