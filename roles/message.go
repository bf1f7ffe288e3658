package roles

import (
	"cmp"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// MessageKind says what a message is (role seed §4.4).
type MessageKind string

// The kinds.
const (
	Request      MessageKind = "request"
	Response     MessageKind = "response"
	Notification MessageKind = "notification"
)

// Message is from a role to a role or a person.
type Message struct {
	ID          string      `json:"id"`
	Kind        MessageKind `json:"type"`
	From        string      `json:"from"`
	To          string      `json:"to"`
	Content     string      `json:"content"`        // data, never instructions
	Correlation string      `json:"correlation_id"` // of a request with its answers
	Deadline    string      `json:"deadline,omitempty"`
	Late        bool        `json:"late,omitempty"` // an answer after the deadline
	// its sender had read what comes from outside
	Outside bool   `json:"second_hand,omitempty"`
	At      string `json:"timestamp"`
}

// Note is a message to send.
type Note struct {
	To      string // a role, a person or "owner"; not needed for an answer
	Content string
	Answers string // the request that it answers
	Expects bool   // it is a request
	Within  time.Duration
	Outside bool // this process knows the sender's session to have read what comes from outside
}

// theOwner names the owner of the workspace in a message, also where a role of old bears that id.
const theOwner = "owner"

// Limits of messages.
const (
	maxContent = 4 << 10 // bytes
	maxUnread  = 50      // shown at once
	maxWithin  = 30 * 24 * time.Hour
)

// Send sends a message in the actor's name. A request to a person waits in the review queue; a
// role gets an event in its mailbox. CodeNotFound for a receiver or a request that is absent or
// hidden.
func (r *Roles) Send(g access.Grant, workspace string, n Note) (Message, error) {
	if n.To == "" && n.Answers == "" {
		return Message{}, schemas.Invalidf("the message names no receiver").With(schemas.Violation{
			Path: schemas.Pointer("to"), Msg: `must be a role, or "owner"`}).Try("%s shows the roles",
			schemas.Tool("role_list"))
	}
	role := n.To
	if role == theOwner {
		role = "" // it says nothing of the workspace
	}
	w, err := r.worldOf(g, workspace, role)
	if err != nil {
		return Message{}, err
	}
	if n.Content = strings.TrimSpace(n.Content); n.Content == "" || len(n.Content) > maxContent {
		return Message{}, schemas.Invalidf("a message of %d bytes", len(n.Content)).Expecting("1–%d bytes", maxContent)
	}
	if n.Within < 0 || n.Within > maxWithin {
		return Message{}, schemas.Invalidf("a deadline in %s", n.Within).Expecting("at most 30 days")
	}
	m := message{workspace: w.Workspace.Workspace, from: g.Actor(), content: n.Content, kind: Notification}
	if m.outside, err = outsideOf(g, n.Outside); err != nil {
		return Message{}, err
	}
	if n.Answers != "" {
		return r.reply(g, w, m, n.Answers)
	}
	to := w.Of(n.To)
	switch {
	case n.To == theOwner || n.To == string(w.Workspace.Owner):
		m.to = w.Workspace.Owner
	case to != nil:
		m.to = to.Agent
	default:
		return Message{}, noRole([]*World{w}, n.To, theOwner)
	}
	if m.to == m.from {
		return Message{}, schemas.Invalidf("a message to oneself").Expecting("another role, or the owner")
	}
	if n.Expects {
		m.kind = Request
		m.deadline = g.Tx().Micros() + cmp.Or(n.Within, defaultWithin).Microseconds()
	}
	if err := m.keep(g); err != nil {
		return Message{}, err
	}
	if m.kind == Request && m.to == w.Workspace.Owner && m.from != m.to {
		if _, err := (Ask{Workspace: m.workspace, Kind: schemas.AskRequest, Agent: m.from, Asked: m.to,
			Title: w.nameOf(g, m.from) + " asks you", Shows: []string{oneLine(m.content)}, data: encoded(m.id),
			Then: schemas.ThenRefuse, Outside: m.outside}).open(g, cmp.Or(n.Within, defaultWithin)); err != nil {
			return Message{}, err
		}
	}
	return m.shown(w, g), nil
}

// message is one as stored.
type message struct {
	id, workspace, correlation, content string
	kind                                MessageKind
	from, to                            schemas.EntityID
	deadline, at                        int64
	late, outside                       bool
}

// outsideOf reports whether what the actor says may speak out of what it read from outside.
func outsideOf(g access.Grant, known bool) (bool, error) {
	if known || g.IsNode() || g.IsHuman() {
		return known && !g.IsHuman(), nil
	}
	return memory.Tainted(g)
}

func (m *message) keep(g access.Grant) error {
	m.id, m.at = schemas.NewID(), g.Tx().Micros()
	m.correlation = cmp.Or(m.correlation, m.id)
	if _, err := g.Tx().Exec(insertMessage, m.id, m.workspace, m.kind, m.from, m.to, m.correlation, m.content, m.deadline,
		m.late, m.at, m.outside); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if err := g.Audit("role_message/"+m.id, map[string]any{"to": m.to, "type": m.kind, "late": m.late}); err != nil {
		return err
	}
	_, _, cause, err := lastCause(g, m.from)
	if err != nil {
		return err
	}
	return g.Emit(events.EntityStream(m.to), schemas.EventRoleMessage,
		schemas.RoleMessage{MessageID: m.id, From: m.from, Kind: string(m.kind), Late: m.late, Cause: cause})
}

// reply answers a request; the first answer after the deadline and every later one is marked
// late, and kept.
func (r *Roles) reply(g access.Grant, w *World, m message, to string) (Message, error) {
	asked, err := scanMessage(g.Tx().QueryRow(selectRequest, to, g.Actor()))
	if err != nil {
		return Message{}, cmp.Or(ignoreNone(err), error(schemas.NotFoundf("there is no request %q for you", to).
			Expecting("the id of a request you got").Try("%s lists your messages", schemas.Tool("role_message"))))
	}
	m.kind, m.to, m.correlation = Response, asked.from, asked.correlation
	m.late = asked.deadline > 0 && g.Tx().Micros() > asked.deadline
	if err := m.keep(g); err != nil {
		return Message{}, err
	}
	return m.shown(w, g), nil
}

// answer sends what a person decided over a request as the answer to it.
func answer(g access.Grant, a Ask, reason string) error {
	var id string
	if err := unmarshal(a.data, &id); err != nil {
		return err
	}
	asked, err := scanMessage(g.Tx().QueryRow(selectRequest, id, a.Asked))
	if err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	m := message{workspace: a.Workspace, kind: Response, from: a.Asked, to: asked.from, correlation: asked.correlation,
		content: cmp.Or(strings.TrimSpace(reason), "seen, without an answer"),
		late:    asked.deadline > 0 && g.Tx().Micros() > asked.deadline}
	return m.keep(g)
}

func scanMessage(r interface{ Scan(...any) error }) (m message, err error) {
	return m, r.Scan(&m.id, &m.workspace, &m.kind, &m.from, &m.to, &m.correlation, &m.content, &m.deadline, &m.late, &m.at,
		&m.outside)
}

func (m message) shown(w *World, g access.Grant) Message {
	out := Message{ID: m.id, Kind: m.kind, From: w.nameOf(g, m.from), To: w.nameOf(g, m.to), Content: m.content,
		Correlation: m.correlation, Late: m.late, Outside: m.outside, At: events.Timestamp(m.at)}
	if m.deadline > 0 {
		out.Deadline = events.Timestamp(m.deadline)
	}
	return out
}

func (w *World) nameOf(g access.Grant, id schemas.EntityID) string {
	if m := w.byAgent[id]; m != nil {
		return m.RoleID
	}
	return g.NameOf(id)
}

// Messages lists what the actor got and sent in its workspaces, or in one, the newest of each first;
// about = only of one request.
func (r *Roles) Messages(g access.Grant, workspace, about string) (list []Message, err error) {
	return list, r.each(g, workspace, func(w *World) error {
		of, err := messages(g, w, about)
		list = append(list, of...)
		return err
	})
}

func messages(g access.Grant, w *World, about string) ([]Message, error) {
	rows, err := g.Tx().Query(selectMessages, g.Actor(), w.Workspace.Workspace, about, maxUnread)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (message, error) { return scanMessage(r) })
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = m.shown(w, g)
	}
	return out, nil
}
