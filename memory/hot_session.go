package memory

import (
	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// sessionNameLimit is the longest client's name for a session, in bytes.
const sessionNameLimit = 200

// HotNote is what a session leaves behind; what is absent stays as it was.
type HotNote struct {
	Summary     string
	Focus       string
	OpenThreads []string // nil = unchanged, empty = none left
}

// HotSession is where an entity's sessions stand.
type HotSession struct {
	Doc     HotDoc
	Chain   HotChain
	Resumed bool   // the session was open already
	Note    string // what happened to another session, if anything
}

// StartHotSession begins the session that the client calls client (seed §3.3).
// Beginning the open session again resumes it and changes nothing; another one
// left open is ended as abandoned. The chain is verified first. Errors:
// CodeConflict if it is broken.
func StartHotSession(g access.Grant, entity schemas.EntityID, client string, view HotView) (HotSession, error) {
	if len(client) > sessionNameLimit {
		return HotSession{}, schemas.Invalidf("the session id has %d bytes", len(client)).Expecting("at most %d",
			sessionNameLimit)
	}
	h, err := openHot(g, access.KindWrite, entity)
	if err != nil {
		return HotSession{}, err
	}
	if err := h.verify(); err != nil {
		return HotSession{}, err
	}
	if h.started != 0 && h.client == client {
		return h.session(view, true, "")
	}
	note := ""
	if h.started != 0 {
		note = "a session open since " + events.Timestamp(h.started) + " was never ended; it was closed as abandoned"
		if err := h.end(g, "abandoned", view); err != nil {
			return HotSession{}, err
		}
	}
	h.touch(g.Tx())
	h.client, h.started = client, h.updatedAt
	if err := h.save(g.Tx(), updateHot); err != nil {
		return HotSession{}, err
	}
	if err := g.Audit(h.target(), map[string]any{"action": "start", "chain_hash": h.chain.String()}); err != nil {
		return HotSession{}, err
	}
	return h.session(view, false, note)
}

// CheckpointHotSession stores what the open session would leave behind, without
// ending it or moving the chain. Errors: CodeConflict if client's session is
// not the open one.
func CheckpointHotSession(g access.Grant, entity schemas.EntityID, client string, n HotNote,
	view HotView) (HotSession, error) {
	h, err := openSession(g, entity, client)
	if err != nil {
		return HotSession{}, err
	}
	if err := h.take(n); err != nil {
		return HotSession{}, err
	}
	h.touch(g.Tx())
	if err := h.save(g.Tx(), updateHot); err != nil {
		return HotSession{}, err
	}
	if err := g.Audit(h.target(), map[string]any{"action": "checkpoint", "doc_hash": h.docHash.String()}); err != nil {
		return HotSession{}, err
	}
	return h.session(view, true, "")
}

// EndHotSession ends client's session: it counts, and the chain advances over
// the context as it now is. Errors: CodeConflict if client's session is not the
// open one or the chain is broken.
func EndHotSession(g access.Grant, entity schemas.EntityID, client string, n HotNote,
	view HotView) (HotSession, error) {
	h, err := openSession(g, entity, client)
	if err != nil {
		return HotSession{}, err
	}
	if err := h.take(n); err != nil {
		return HotSession{}, err
	}
	if err := h.end(g, "end", view); err != nil {
		return HotSession{}, err
	}
	return h.session(view, false, "")
}

// openSession reads the context whose open session is client's.
func openSession(g access.Grant, entity schemas.EntityID, client string) (*hot, error) {
	h, err := openHot(g, access.KindWrite, entity)
	if err != nil {
		return nil, err
	}
	switch {
	case h.started == 0:
		return nil, schemas.Conflictf("no session is open").Expecting("a session that was started").
			Try("%s", schemas.Tool("memory_session", "action", "start"))
	case h.client != client:
		return nil, schemas.Conflictf("another session, open since %s, has taken the place of this one",
			events.Timestamp(h.started)).
			Expecting("the session_id the open session was started with").
			Try("%s", schemas.Tool("memory_session", "action", "start"))
	}
	return h, h.verify()
}

// take stores n in the entity's part.
func (h *hot) take(n HotNote) error {
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
	return h.set(mergePatch(h.own, patch).(map[string]any), nil)
}

// end closes the open session and advances the chain over what a reader sees
// after it; the moment of the write is part of that.
func (h *hot) end(g access.Grant, action string, view HotView) error {
	h.touch(g.Tx())
	h.sessions++
	h.client, h.started, h.ended = "", 0, h.updatedAt
	doc, err := h.render(view)
	if err != nil {
		return err
	}
	if err := h.advance(doc); err != nil {
		return err
	}
	if err := h.save(g.Tx(), updateHot); err != nil {
		return err
	}
	return g.Audit(h.target(), map[string]any{"action": action, "session_count": h.sessions,
		"chain_hash": h.chain.String()})
}

// session is the answer to a session call.
func (h *hot) session(view HotView, resumed bool, note string) (HotSession, error) {
	doc, err := h.document(view)
	if err != nil {
		return HotSession{}, err
	}
	return HotSession{Doc: doc, Chain: h.state(), Resumed: resumed, Note: note}, nil
}
