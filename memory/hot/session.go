package hot

import (
	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// sessionNameLimit is the longest client's name for a session, in bytes.
const sessionNameLimit = 200

// Note is what a session leaves behind; what is absent stays as it was.
type Note struct {
	Summary     string
	Focus       string
	OpenThreads []string // nil = unchanged, empty = none left
}

// Session is where an entity's sessions stand.
type Session struct {
	Doc     Doc
	Chain   Chain
	Resumed bool   // the session was open already
	Note    string // what happened to another session, if anything
}

// StartSession begins the session that the client calls client (seed §3.3).
// Beginning the open session again resumes it and changes nothing; another one
// left open is ended as abandoned. The chain is verified first. Errors:
// CodeConflict if it is broken.
func StartSession(g access.Grant, entity schemas.EntityID, client string, view View) (Session, error) {
	if len(client) > sessionNameLimit {
		return Session{}, schemas.Invalidf("the session id has %d bytes", len(client)).Expecting("at most %d",
			sessionNameLimit)
	}
	r, err := open(g, access.KindWrite, entity)
	if err != nil {
		return Session{}, err
	}
	if err := r.verify(); err != nil {
		return Session{}, err
	}
	if r.started != 0 && r.client == client {
		return r.session(view, true, "")
	}
	note := ""
	if r.started != 0 {
		note = "a session open since " + events.Timestamp(r.started) + " was never ended; it was closed as abandoned"
		if err := r.end(g, "abandoned", view); err != nil {
			return Session{}, err
		}
	}
	r.touch(g.Tx())
	r.client, r.started = client, r.updatedAt
	if err := r.save(g.Tx(), updateContext); err != nil {
		return Session{}, err
	}
	if err := g.Audit(r.target(), map[string]any{"action": "start", "chain_hash": r.chain.String()}); err != nil {
		return Session{}, err
	}
	return r.session(view, false, note)
}

// CheckpointSession stores what the open session would leave behind, without
// ending it or moving the chain. Errors: CodeConflict if client's session is
// not the open one.
func CheckpointSession(g access.Grant, entity schemas.EntityID, client string, n Note,
	view View) (Session, error) {
	r, err := openSession(g, entity, client)
	if err != nil {
		return Session{}, err
	}
	if err := r.take(n); err != nil {
		return Session{}, err
	}
	r.touch(g.Tx())
	if err := r.save(g.Tx(), updateContext); err != nil {
		return Session{}, err
	}
	if err := g.Audit(r.target(), map[string]any{"action": "checkpoint", "doc_hash": r.docHash.String()}); err != nil {
		return Session{}, err
	}
	return r.session(view, true, "")
}

// EndSession ends client's session: it counts, and the chain advances over
// the context as it now is. Errors: CodeConflict if client's session is not the
// open one or the chain is broken.
func EndSession(g access.Grant, entity schemas.EntityID, client string, n Note,
	view View) (Session, error) {
	r, err := openSession(g, entity, client)
	if err != nil {
		return Session{}, err
	}
	if err := r.take(n); err != nil {
		return Session{}, err
	}
	if err := r.end(g, "end", view); err != nil {
		return Session{}, err
	}
	return r.session(view, false, "")
}

// openSession reads the context whose open session is client's.
func openSession(g access.Grant, entity schemas.EntityID, client string) (*row, error) {
	r, err := open(g, access.KindWrite, entity)
	if err != nil {
		return nil, err
	}
	switch {
	case r.started == 0:
		return nil, schemas.Conflictf("no session is open").Expecting("a session that was started").
			Try("%s", schemas.Tool("memory_session", "action", "start"))
	case r.client != client:
		return nil, schemas.Conflictf("another session is open, since %s",
			events.Timestamp(r.started)).
			Expecting("the session_id the open session was started with").
			Try("if it is yours, repeat the call with session_id %q; %s closes it", r.client,
				schemas.Tool("memory_session", "action", "start"))
	}
	return r, r.verify()
}

// take stores n in the entity's part.
func (r *row) take(n Note) error {
	patch := map[string]any{}
	ephemeral := map[string]any{}
	if n.Summary != "" {
		ephemeral["last_summary"] = n.Summary
	}
	if n.OpenThreads != nil {
		threads := make([]any, len(n.OpenThreads))
		for i, t := range n.OpenThreads {
			threads[i] = t
		}
		ephemeral["open_threads"] = threads
	}
	if len(ephemeral) > 0 {
		patch["ephemeral"] = ephemeral
	}
	if n.Focus != "" {
		patch["active"] = map[string]any{"focus": n.Focus}
	}
	return r.set(mergePatch(r.own, patch).(map[string]any), nil)
}

// end closes the open session and advances the chain over what a reader sees
// after it; the moment of the write is part of that.
func (r *row) end(g access.Grant, action string, view View) error {
	r.touch(g.Tx())
	r.sessions++
	r.client, r.started, r.ended = "", 0, r.updatedAt
	doc, err := r.render(view)
	if err != nil {
		return err
	}
	if err := r.advance(doc); err != nil {
		return err
	}
	if err := r.save(g.Tx(), updateContext); err != nil {
		return err
	}
	return g.Audit(r.target(), map[string]any{"action": action, "session_count": r.sessions,
		"chain_hash": r.chain.String()})
}

// session is the answer to a session call.
func (r *row) session(view View, resumed bool, note string) (Session, error) {
	doc, err := r.document(view)
	if err != nil {
		return Session{}, err
	}
	return Session{Doc: doc, Chain: r.state(), Resumed: resumed, Note: note}, nil
}
