package roles

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Hook is a request of a source, with its body as it came.
type Hook struct {
	Source string
	Header func(name string) string
	Body   []byte
}

// MaxHook bounds the body of a request, in bytes.
const MaxHook = 1 << 20

// github is the kind of webhook whose mapping ships.
const github = "github"

var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)

// checkWebhook notes what is wrong with a webhook.
func checkWebhook(h schemas.Webhook, id string, say say) {
	at := "/webhooks" + schemas.Pointer(id)
	if !roleName.MatchString(id) {
		say(at, "a source must be 1–40 of a-z 0-9 -: it stands in the address /hooks/%s", schemas.Shorten(id, 40))
	}
	if !domainName.MatchString(h.Domain) {
		say(at+"/domain", "must be the domain of its events")
	}
	if h.Kind != "" && h.Kind != github {
		say(at+"/kind", "must be github, or left out: then a table says how its requests become events")
	}
	for _, t := range slices.Sorted(maps.Keys(h.Events)) {
		if !eventName.MatchString(h.Events[t]) {
			say(at+"/events"+schemas.Pointer(t), "must be a type of event, as deal.created")
		}
	}
	if h.Kind != "" {
		if h.Kind == github && (h.Signature != "" || h.Delivery != "" || h.Type != "" || h.Thread != "" || h.Author != "" ||
			len(h.Fields) > 0) {
			say(at, "kind github has its own mapping: only domain, events and self go with it")
		}
		return
	}
	for key, name := range map[string]string{"signature": h.Signature, "delivery": h.Delivery} {
		if !headerName.MatchString(name) {
			say(at+"/"+key, "must be the name of a header")
		}
	}
	if h.Type == "" || len(h.Events) == 0 {
		say(at, "needs type, the field of the body that says what happened, and events, what each value means")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Fields)) {
		if !paramName.MatchString(name) {
			say(at+"/fields"+schemas.Pointer(name), "must be a name of a-z 0-9 _")
		}
	}
}

// Signed reports whether a request was signed with the secret of its source: HMAC-SHA256 of
// the body as it came, in hex, with or without sha256= before it.
func Signed(h schemas.Webhook, r Hook, secret []byte) bool {
	name := h.Signature
	if h.Kind == github {
		name = "X-Hub-Signature-256"
	}
	given, err := hex.DecodeString(strings.TrimPrefix(r.Header(name), "sha256="))
	mac := hmac.New(sha256.New, secret)
	mac.Write(r.Body)
	return hmac.Equal(given, mac.Sum(nil)) && err == nil && len(secret) > 0
}

// HookOf gives the workspace of a source and its webhook. CodeNotFound if there is none. It is
// for the node, which checks the signature.
func (r *Roles) HookOf(g access.Grant, source string) (workspace string, h schemas.Webhook, err error) {
	if !g.IsNode() {
		return "", h, access.ErrNoGrant
	}
	if err = store.ErrNoRows; roleName.MatchString(source) {
		err = g.Tx().QueryRow(selectHook, source).Scan(&workspace)
	}
	if errors.Is(err, store.ErrNoRows) {
		return "", h, schemas.NotFoundf("there is no webhook %s", schemas.Shorten(source, 40))
	}
	if err != nil {
		return "", h, fmt.Errorf("read webhook: %w", err)
	}
	w, err := r.load(g, workspace)
	if err != nil {
		return "", h, err
	}
	return workspace, w.Workspace.Webhooks[source], nil
}

// Mapped is a request as an event.
type Mapped struct {
	Event Event
	Alias string // a thread that belongs to Event.Thread from now on
	Skip  string // why the request is no event, "" if it is one

	ours bool // a text of it bears our mark
}

// Map makes an event of a signed request, whose body is only read now.
func Map(h schemas.Webhook, r Hook, now time.Time) (m Mapped, err error) {
	var body map[string]any
	if json.Unmarshal(schemas.JSONWithoutNUL(r.Body), &body) != nil {
		return m, schemas.Invalidf("the body is no JSON object")
	}
	delivery := h.Delivery
	if h.Kind == github {
		delivery = "X-GitHub-Delivery"
		m = fromGitHub(r.Header("X-GitHub-Event"), body)
	} else {
		m = fromTable(h, body)
	}
	if named, ok := h.Events[m.Event.Type]; ok && h.Kind == github {
		m.Event.Type = named
	}
	e := &m.Event
	e.ID, e.Source, e.Domain, e.Outside = strings.ToValidUTF8(r.Header(delivery), "\uFFFD"), r.Source, h.Domain, true
	if e.ID == "" {
		return m, schemas.Invalidf("the request has no %s", delivery).Expecting("an id of the delivery")
	}
	if author := e.Metadata["author"]; author != "" && slices.Contains(h.Self, author) {
		e.Effect = author + " is one of ours"
	} else if m.ours {
		e.Effect = "it bears our mark"
	}
	if m.Skip != "" {
		return m, nil
	}
	return m, CheckEvent(e, now)
}

// Marker stands in what roles write elsewhere, so that it is known when it comes back.
const Marker = "cordelia:role"

// fromTable maps a request by the table of its webhook.
func fromTable(h schemas.Webhook, body map[string]any) (m Mapped) {
	event := field(body, h.Type)
	t, ok := h.Events[event]
	if !ok {
		m.Skip = fmt.Sprintf("%q is not among events", schemas.Shorten(event, 64))
	}
	payload := map[string]any{}
	for name, path := range h.Fields {
		text := field(body, path)
		m.ours = m.ours || strings.Contains(text, Marker) // also behind what is kept of it
		payload[name] = schemas.Shorten(text, maxShown)
	}
	m.Event = Event{Type: t, Payload: json.RawMessage(encoded(payload)),
		Metadata: map[string]string{"author": field(body, h.Author)}}
	if h.Thread != "" {
		m.Event.Thread = threadOf(field(body, h.Thread))
	}
	return m
}

// threadOf is outside text as the name of a thread.
func threadOf(text string) string {
	return schemas.Shorten(strings.Join(strings.Fields(text), " "), maxID)
}

// Receive takes a mapped request into its workspace, once for each delivery and each body: a
// delivery's id is not signed, so a body that came before is a repetition, also with another
// id. It is for the node, which checked the signature.
func (r *Roles) Receive(g access.Grant, workspace string, m Mapped, body []byte) (Taken, error) {
	if !g.IsNode() {
		return Taken{}, access.ErrNoGrant
	}
	sum := sha256.Sum256(body)
	var id string
	err := g.Tx().QueryRow(insertDelivery, m.Event.Source, sum[:], m.Event.ID, g.Tx().Micros()).Scan(&id)
	if err != nil {
		return Taken{}, fmt.Errorf("note delivery: %w", err)
	}
	if m.Alias != "" {
		if _, err := g.Tx().Exec(joinThread, workspace, m.Alias, m.Event.Thread); err != nil {
			return Taken{}, fmt.Errorf("join threads: %w", err)
		}
	}
	m.Event.ID = id // of the first delivery with this body
	return r.Deliver(g, workspace, m.Event)
}
