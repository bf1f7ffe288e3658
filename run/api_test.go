//go:build unix

package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/internal/endpoint"
	"cordelia/work"
)

const apiSecret = "sk-test-81c0ffee55"

// says is a reply of a scripted model, in no API's words.
type says struct {
	text    string
	calls   []toolCall
	refuses string
	cut     bool
	status  int // of HTTP, in place of a reply
	header  map[string]string
	body    string
	broken  bool // the stream breaks off before its end
	silent  bool // nothing comes
}

// apiServer plays a script: one entry a request, the last again and again.
type apiServer struct {
	*httptest.Server
	kind APIKind

	mu     sync.Mutex
	script []says
	bodies []string
	header http.Header
}

func serveAPI(t *testing.T, kind APIKind, script ...says) (*apiServer, *API) {
	t.Helper()
	s := &apiServer{kind: kind, script: script}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	t.Setenv("API_TEST_KEY", apiSecret)
	key, err := endpoint.KeyFromEnv("API_TEST_KEY")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	a, err := NewAPI(APIConfig{Name: "house", Kind: kind, URL: s.URL + "/v1", Model: "m-1", Key: key,
		Payer: "the variable API_TEST_KEY", Self: self})
	require.NoError(t, err)
	a.pause = time.Millisecond
	return s, a
}

func (s *apiServer) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body) //nolint:errcheck // the test sees what is missing
	s.mu.Lock()
	one := s.script[min(len(s.bodies), len(s.script)-1)]
	s.bodies, s.header = append(s.bodies, string(raw)), r.Header
	s.mu.Unlock()
	if one.silent {
		<-r.Context().Done()
		return
	}
	for name, value := range one.header {
		w.Header().Set(name, value)
	}
	if one.status != 0 {
		w.WriteHeader(one.status)
		io.WriteString(w, one.body) //nolint:errcheck // the client is gone
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	list := map[APIKind]func(says) []string{Messages: messagesEvents, Responses: responsesEvents,
		Chat: chatEvents}[s.kind](one)
	if one.broken {
		list = list[:len(list)/2]
	}
	for _, e := range list {
		fmt.Fprintf(w, ": ping\n\nevent: x\ndata: %s\n\n", e)
	}
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func messagesEvents(one says) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	add(`{"type":"message_start","message":{"model":"m-1-dated","usage":{"input_tokens":7,"cache_read_input_tokens":5,` +
		`"cache_creation_input_tokens":3,"output_tokens":1}}}`)
	n := 0
	block := func(start, delta string) {
		add(`{"type":"content_block_start","index":%d,"content_block":%s}`, n, start)
		half := len(delta) / 2
		for _, part := range []string{delta[:half], delta[half:]} {
			name := "text_delta"
			field := "text"
			if strings.Contains(start, "tool_use") {
				name, field = "input_json_delta", "partial_json"
			}
			add(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, n, name, field, text(part))
		}
		add(`{"type":"content_block_stop","index":%d}`, n)
		n++
	}
	add(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`)
	add(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`)
	n++
	block(`{"type":"text","text":""}`, one.text)
	for _, c := range one.calls {
		block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, c.id, c.name), string(c.input))
	}
	stop := "end_turn"
	switch {
	case one.refuses != "":
		stop = "refusal"
	case one.cut:
		stop = "max_tokens"
	}
	add(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":11}}`, stop)
	add(`{"type":"message_stop"}`)
	return list
}

func responsesEvents(one says) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	add(`{"type":"response.created","response":{"model":"m-1"}}`)
	add(`{"type":"response.output_item.done","item":{"type":"reasoning","summary":[]}}`)
	content := fmt.Sprintf(`{"type":"output_text","text":%s}`, text(one.text))
	if one.refuses != "" {
		content = fmt.Sprintf(`{"type":"refusal","refusal":%s}`, text(one.refuses))
	}
	add(`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[%s]}}`, content)
	for _, c := range one.calls {
		add(`{"type":"response.output_item.done","item":{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}}`,
			c.id, c.name, text(string(c.input)))
	}
	end, details := "completed", "null"
	if one.cut {
		end, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	add(`{"type":"response.%s","response":{"model":"m-1-dated","incomplete_details":%s,"usage":{"input_tokens":12,`+
		`"input_tokens_details":{"cached_tokens":5},"output_tokens":11}}}`, end, details)
	return list
}

func chatEvents(one says) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	half := len(one.text) / 2
	for _, part := range []string{one.text[:half], one.text[half:]} {
		add(`{"model":"m-1-dated","choices":[{"index":0,"delta":{"role":"assistant","content":%s},"finish_reason":null}]}`,
			text(part))
	}
	if one.refuses != "" {
		add(`{"choices":[{"delta":{"refusal":%s}}]}`, text(one.refuses))
	}
	for i, c := range one.calls {
		half := len(c.input) / 2
		add(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":%q,"function":{"name":%q,"arguments":%s}}]}}]}`, i,
			c.id, c.name, text(string(c.input[:half])))
		add(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, i,
			text(string(c.input[half:])))
	}
	finish := "stop"
	if one.cut {
		finish = "length"
	}
	add(`{"choices":[{"delta":{},"finish_reason":%q}]}`, finish)
	add(`{"choices":[],"usage":{"prompt_tokens":12,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens":11}}`)
	add(`[DONE]`)
	return list
}

var apiKinds = []APIKind{Messages, Responses, Chat}

// verdict is a small schema with what strict modes cannot take.
const verdict = `{"type":"object","additionalProperties":false,"required":["verdict","output"],"properties":{` +
	`"verdict":{"enum":["pass","fail"]},"output":{},"note":{"type":"string","maxLength":9},"call":{"type":"integer"}}}`

// apiAsked asks an API for a verdict and gives what became of it.
func apiAsked(t *testing.T, a *API, limits Limits) (Answer, *Fault, []Event) {
	t.Helper()
	var events []Event
	answer, err := a.Ask(t.Context(), Order{System: "Judge. Answer with StructuredOutput.", Prompt: "the brief",
		Schema: json.RawMessage(verdict), Limits: limits}, func(e Event) { events = append(events, e) })
	f, _ := errors.AsType[*Fault](err)
	require.Equal(t, err == nil, f == nil, "%v", err)
	return answer, f, events
}

// Each API answers by the schema it is given, and tells who pays, what was used, and how
// much of it was cached.
func TestAPIsAnswerByASchema(t *testing.T) {
	for _, kind := range apiKinds {
		s, a := serveAPI(t, kind, says{text: `{"verdict":"pass","output":"x","note":null,"call":null}`})
		answer, f, events := apiAsked(t, a, Limits{Total: time.Minute})
		require.Nil(t, f, "%s: %v", kind, f)
		require.JSONEq(t, `{"verdict":"pass","output":"x"}`, string(answer.Structured), "what is null is left out")
		want := work.Usage{Input: 7, Cached: 5, Output: 11, Cost: work.UnknownCost}
		if kind == Messages {
			want.Written = 3
		}
		require.Equal(t, want, answer.Usage, kind)
		require.Equal(t, []any{"m-1-dated", "the variable API_TEST_KEY", Began, "m-1"},
			[]any{answer.Model, answer.Payer, events[0].Kind, events[0].Model})
		require.Contains(t, s.header.Get("Authorization")+s.header.Get("x-api-key"), apiSecret)
		require.Contains(t, s.bodies[0], `json_schema`)
		require.NotContains(t, s.bodies[0], "maxLength", "strict modes take no bounds")
		require.NotContains(t, s.bodies[0], apiSecret)
		require.NotContains(t, s.bodies[0], "fits this schema", "the schema is not told twice")
	}
}

// A server that refuses a way to hold the model to a schema is asked in the next, and is
// remembered: the second order begins there.
func TestLadderIsRemembered(t *testing.T) {
	large := says{status: 400, body: `{"error":{"type":"invalid_request_error","message":"The compiled grammar is too large"}}`}
	for _, kind := range apiKinds {
		fit := says{text: "<think>{\"verdict\":\"fail\"}</think>Here: {\"verdict\":\"pass\",\"output\":[1]} Done."}
		if kind == Messages { // the second way is a tool there
			fit = says{calls: []toolCall{{"c1", answerTool, json.RawMessage(`{"verdict":"pass","output":[1]}`)}}}
		}
		s, a := serveAPI(t, kind, large, fit)
		for range 2 {
			answer, f, _ := apiAsked(t, a, Limits{})
			require.Nil(t, f, "%s: %v", kind, f)
			require.JSONEq(t, `{"verdict":"pass","output":[1]}`, string(answer.Structured))
		}
		require.Equal(t, 3, s.asked(), "%s: the way that was refused is not tried again", kind)
		require.NotContains(t, s.bodies[2], `json_schema`)
	}
}

// A server that ignores the schema is told so, and the schema is in the prompt from then on.
func TestIgnoredSchemasAreTold(t *testing.T) {
	for _, kind := range apiKinds {
		s, a := serveAPI(t, kind, says{text: "It passes, I think."}, says{text: `{"verdict":"maybe","output":1}`},
			says{text: `{"verdict":"pass","output":1}`})
		answer, f, _ := apiAsked(t, a, Limits{})
		require.Nil(t, f, "%s: %v", kind, f)
		require.JSONEq(t, `{"verdict":"pass","output":1}`, string(answer.Structured))
		require.Equal(t, int64(33), answer.Usage.Output, "each reply is counted")
		require.Contains(t, s.bodies[1], "holds no JSON object")
		require.Contains(t, s.bodies[1], "fits this schema")
		require.Contains(t, s.bodies[2], "must be one of pass, fail")
		_, f, _ = apiAsked(t, a, Limits{})
		require.Nil(t, f)
		require.Contains(t, s.bodies[3], "fits this schema", "%s: remembered", kind)
	}
}

// A server that quotes the key in an answer, however it spells it, does not have it filed.
func TestAnswersHoldNoKey(t *testing.T) {
	spelled := `\u0073` + apiSecret[1:]
	for _, kind := range apiKinds {
		_, a := serveAPI(t, kind, says{text: `{"verdict":"pass","output":["` + spelled + `", "x ` + apiSecret + ` y"]}`})
		answer, f, _ := apiAsked(t, a, Limits{Total: time.Minute})
		require.Nil(t, f, "%s: %v", kind, f)
		require.JSONEq(t, `{"verdict":"pass","output":["[secret]", "x [secret] y"]}`, string(answer.Structured))
	}
}

// As many seats as are filled at once have their replies at once.
func TestAPISeatsDoNotWaitForEachOther(t *testing.T) {
	const seats = 20
	var asked atomic.Int32
	all := make(chan struct{})
	s, a := serveAPI(t, Chat)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == seats {
			close(all)
		}
		select {
		case <-all:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range chatEvents(says{text: `{"verdict":"pass","output":1}`}) {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	})
	var waiting sync.WaitGroup
	for range seats {
		waiting.Go(func() {
			_, f, _ := apiAsked(t, a, Limits{Total: 30 * time.Second})
			assert.Nil(t, f, "%v", f)
		})
	}
	waiting.Wait()
}

// Whatever goes wrong is a fault of its kind, and costs no answer that is none.
func TestAPIFaults(t *testing.T) {
	quick, slow := Limits{First: 5 * time.Second, Idle: 5 * time.Second}, Limits{First: 50 * time.Millisecond}
	good := says{text: `{"verdict":"pass","output":1}`}
	elsewhere := says{status: 302, header: map[string]string{"Location": "http://127.0.0.1:9/"}}
	whole := says{header: map[string]string{"Content-Type": "application/json"}}
	for name, tt := range map[string]struct {
		script []says
		limits Limits
		want   FaultKind // "" = it answers
		asked  int       // 0 = as often as there is time
	}{
		"prose to the end":         {[]says{{text: "It passes."}}, quick, NoAnswer, 3},
		"two answers":              {[]says{{text: `{"verdict":"pass","output":1} {"verdict":"fail","output":1}`}}, quick, NoAnswer, 3},
		"a wrong key":              {[]says{{status: 401, body: `{"error":{"message":"wrong key ` + apiSecret + `"}}`}}, quick, Unpaid, 1},
		"an unknown model":         {[]says{{status: 404, body: "no such model"}}, quick, NoStart, 1},
		"sent elsewhere":           {[]says{elsewhere}, quick, NoStart, 1},
		"a request it cannot take": {[]says{{status: 400, body: "no"}}, quick, Crashed, 3},
		"a limit for long":         {[]says{{status: 429, header: map[string]string{"Retry-After": "7200"}, body: `{"error":{"code":429,"message":"quota"}}`}}, quick, Limit, 1},
		"a limit that stays":       {[]says{{status: 429}}, quick, Limit, exchanges},
		"a limit that passes":      {[]says{{status: 429}, {status: 529}, good}, quick, "", 3},
		"broken for a moment":      {[]says{{status: 500}, {status: 503}, good}, quick, "", 3},
		"broken":                   {[]says{{status: 500, body: "oops"}}, quick, Crashed, exchanges},
		"its stream breaks off":    {[]says{{text: good.text, broken: true}}, quick, Garbled, exchanges},
		"broken off, then whole":   {[]says{{text: good.text, broken: true}, good}, quick, "", 2},
		"silence":                  {[]says{{silent: true}}, slow, Hung, 0},
		"silence to the end":       {[]says{{silent: true}}, Limits{Total: 50 * time.Millisecond}, Hung, 0},
		"it does not stream":       {[]says{whole}, quick, Garbled, 1},
		"a refusal":                {[]says{{refuses: "I will not."}}, quick, Refused, 1},
		"cut":                      {[]says{{text: `{"verdict":"pa`, cut: true}}, quick, NoAnswer, 3},
	} {
		for _, kind := range apiKinds {
			t.Run(name+", "+string(kind), func(t *testing.T) {
				s, a := serveAPI(t, kind, tt.script...)
				answer, f, events := apiAsked(t, a, tt.limits)
				require.NotContains(t, fmt.Sprintf("%+v %+v %+v", answer, f, events), apiSecret)
				if tt.asked > 0 {
					require.Equal(t, tt.asked, s.asked(), "%v", f)
				}
				if tt.want == "" {
					require.Nil(t, f, "%v", f)
					return
				}
				require.NotNil(t, f)
				require.Equal(t, tt.want, f.Kind, f.Msg)
				require.Empty(t, answer.Structured)
				if name == "a limit for long" {
					require.WithinDuration(t, time.Now().Add(2*time.Hour), f.Until, time.Minute)
				}
			})
		}
	}
}
