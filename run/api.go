package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cordelia/internal/endpoint"
	"cordelia/internal/jsonschema"
	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

// APIKind is how a model's server is spoken to.
type APIKind string

// The kinds.
const (
	Messages  APIKind = "messages"  // Anthropic's, and servers like it
	Responses APIKind = "responses" // OpenAI's
	Chat      APIKind = "chat"      // OpenAI's chat completions, which most servers speak
)

// APIConfig says which model to ask, and where.
type APIConfig struct {
	Name      string
	Kind      APIKind
	URL       string // up to and with /v1; "" = Anthropic's or OpenAI's own
	Model     string
	Key       endpoint.Key
	Payer     string // where the key comes from, in words
	MaxOutput int    // tokens of one reply, 0 = the default
	Self      string // path of this program, which carries out tool calls in the sandbox
}

// API asks a model over HTTP with a key of the user's. Its tool calls run in the sandbox;
// the key stays in this process.
type API struct {
	APIConfig
	wire   wire
	to     *url.URL
	http   *http.Client
	ladder *ladder
	pause  time.Duration // before what may pass by itself is asked again, at first
}

// NewAPI checks a configuration; it asks nothing yet. Errors: CodeInvalid.
func NewAPI(c APIConfig) (*API, error) {
	a := &API{APIConfig: c, ladder: &ladder{}, pause: time.Second}
	usual := "https://api.openai.com/v1"
	switch c.Kind {
	case Messages:
		a.wire, usual = messagesWire{}, "https://api.anthropic.com/v1"
	case Responses:
		a.wire = responsesWire{}
	case Chat:
		a.wire = chatWire{}
	default:
		return nil, schemas.Invalidf("seats.apis: %s has the kind %q", c.Name, c.Kind).
			Expecting("messages, responses or chat")
	}
	if c.Model == "" || c.MaxOutput < 0 {
		return nil, schemas.Invalidf("seats.apis: %s names no model, or a max_output below 0", c.Name).
			Expecting("the server's name for a model")
	}
	to, err := endpoint.Parse("seats.apis: "+c.Name, cmp.Or(c.URL, usual))
	if err != nil {
		return nil, err
	}
	a.to = to.JoinPath(a.wire.path())
	a.http = endpoint.NewClient(to, 0) // --parallel bounds them
	return a, nil
}

// Name is what the settings call it.
func (a *API) Name() string { return a.APIConfig.Name }

// Host is where briefs are sent.
func (a *API) Host() string { return a.to.Host }

// answerSchema is what the schema of an answer is called where it is compiled.
const answerSchema = "urn:answer"

// errTotal ends an order that took too long.
var errTotal = errors.New("it was not done in time")

// Ask asks for one answer: in one reply, or over as many as an executor needs.
func (a *API) Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error) {
	if o.Limits.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Limits.Total, errTotal)
		defer cancel()
	}
	c := &conversation{API: a, order: o, model: cmp.Or(o.Model, a.Model), emit: func(e Event) {
		e.At, e.Input, e.Output, e.Text = time.Now(), a.Key.Hide(e.Input), a.Key.Hide(e.Output), a.Key.Hide(e.Text)
		emit(e)
	}}
	c.usage.Cost = work.UnknownCost
	c.emit(Event{Kind: Began, Model: c.model, Payer: a.Payer})
	var answer json.RawMessage
	compiled, err := jsonschema.Compile(map[string][]byte{answerSchema: o.Schema})
	if err != nil {
		err = faultf(NoStart, "the schema of the answer: %v", err)
	} else if c.schema = compiled[answerSchema]; len(o.Tools) == 0 {
		answer, err = c.judge(ctx)
	} else {
		answer, err = c.work(ctx)
	}
	return Answer{Structured: a.Key.HideJSON(answer), Model: cmp.Or(c.by, c.model), Payer: a.Payer, Usage: c.usage}, err
}

// conversation is one order as it goes on.
type conversation struct {
	*API
	order  Order
	model  string // that is asked for
	by     string // that says it answers
	emit   func(Event)
	schema jsonschema.Schema
	turns  []turn
	usage  work.Usage

	repairs int // answers that did not fit
}

// turn is one step of a conversation: what the user says, what the model replied, or what
// its tool calls came to.
type turn struct {
	user    string
	answer  *reply
	results []toolResult
}

// toolCall is a call that the model makes.
type toolCall struct {
	id, name string
	input    json.RawMessage
}

// toolResult is what a call came to.
type toolResult struct {
	id, text string
	failed   bool
}

// reply is what a model said in one turn.
type reply struct {
	text  string
	calls []toolCall
	raw   []json.RawMessage // the same, as the API wants it back
	model string
	usage work.Usage
	cut   bool   // it reached the limit of its length
	no    string // why the model refused, "" if it did not
}

// talk is what one request says.
type talk struct {
	model, system string
	turns         []turn
	tools         []toolSpec
	shape         step            // of a reply without tools
	schema        json.RawMessage // that it has to fit
	maxOutput     int
}

// say asks for the next reply, and notes what it took.
func (c *conversation) say(ctx context.Context, t talk) (reply, *failure) {
	t.model, t.turns, t.maxOutput = c.model, c.turns, c.MaxOutput
	r, f := c.exchange(ctx, t, c.order.Limits, func(u work.Usage) {
		c.usage = cost.Sum(c.usage, u)
		c.emit(Event{Kind: Used, Usage: c.usage})
	})
	c.by = cmp.Or(c.Key.Hide(r.model), c.by)
	if f == nil && r.no != "" {
		f = &failure{fault: faultf(Refused, "the model refused: %s", c.Key.Hide(r.no))}
	}
	if f == nil && strings.TrimSpace(r.text) != "" {
		c.emit(Event{Kind: Said, Text: r.text})
	}
	return r, f
}
