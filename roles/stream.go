package roles

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// nodeDomain is the domain of the node's own events.
const nodeDomain = "node"

// streams has the node read, from now on, the events of a workspace's owner and roles, if the
// workspace wants any.
func (w *World) streams(g access.Grant) error {
	if len(w.Workspace.NodeEvents) == 0 {
		_, err := g.Tx().Exec(dropStreams, w.Workspace.Workspace)
		return err
	}
	of := []schemas.EntityID{w.Workspace.Owner}
	for _, m := range w.Members {
		of = append(of, m.Agent)
	}
	for _, id := range of {
		if _, err := g.Tx().Exec(joinStream, w.Workspace.Workspace, events.EntityStream(id)); err != nil {
			return fmt.Errorf("read events of the node: %w", err)
		}
	}
	return nil
}

// settleStreams delivers the node's own events to the workspaces that want them, each once: an event
// that several members of a workspace got has one id.
func (r *Roles) settleStreams(g access.Grant) error {
	type news struct {
		workspace, stream string
		seq, at           int64
		kind, payload     string
	}
	rows, err := g.Tx().Query(selectNews)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (n news, err error) {
		return n, r.Scan(&n.workspace, &n.stream, &n.seq, &n.at, &n.kind, &n.payload)
	})
	if err != nil {
		return fmt.Errorf("read events of the node: %w", err)
	}
	for _, n := range list {
		if _, err := g.Tx().Exec(moveStream, n.seq, n.workspace, n.stream, n.seq); err != nil {
			return fmt.Errorf("read events of the node: %w", err)
		}
		w, err := r.load(g, n.workspace)
		if err != nil {
			return err
		}
		if !slices.Contains(w.Workspace.NodeEvents, schemas.EventType(n.kind)) {
			continue
		}
		e := Event{ID: fmt.Sprintf("%d/%x", n.at, sha256.Sum256([]byte(n.kind+" "+n.payload))), Type: n.kind,
			Source: string(access.NodeEntity), Domain: nodeDomain, Payload: json.RawMessage(n.payload)}
		if e.Depth, e.Thread, err = ownCause(g, n.payload); err != nil {
			return err
		}
		if err := r.bring(g, n.workspace, e); err != nil {
			return err
		}
	}
	return nil
}

// ownCause is how deep an event of the node lies that tells of work which a role delegated, of what it
// asked or of what it said over such work, and the thread of that work.
func ownCause(g access.Grant, payload string) (depth int, thread string, err error) {
	var p struct {
		Work  string `json:"work_id"`
		Task  string `json:"task_id"`
		Ref   string `json:"ref"`
		Cause string `json:"cause"`
	}
	if err := unmarshal(payload, &p); err != nil {
		return 0, "", err
	}
	for _, ref := range []string{p.Work, p.Task, p.Ref, p.Cause} {
		if ref == "" {
			continue
		}
		err := g.Tx().QueryRow(selectOwnCause, ref).Scan(&depth)
		if err == nil {
			return depth + 1, "work:" + ref, nil
		}
		if ignoreNone(err) != nil {
			return 0, "", fmt.Errorf("read cause: %w", err)
		}
	}
	return 0, "", nil
}
