package roles

import (
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// directedSpawn reads what a directive to spawn asks for.
func directedSpawn(payload json.RawMessage) (s Spawn, err error) {
	var p struct {
		Template string            `json:"template_id"`
		Params   map[string]string `json:"params"`
	}
	err = json.Unmarshal(payload, &p)
	return Spawn{Template: p.Template, Params: p.Params}, err
}

// Spawned sees to it that what a directive to spawn asked for is there before its work counts as
// done: where the role did not make the child itself, nor asked for it, it is made now, with the
// rights of the role. It does nothing for other work, nor for a lease that is not the actor's.
// CodeInvalid says why there can be no such child.
func (r *Roles) Spawned(g access.Grant, workID string, fence int64) (made bool, err error) {
	if is, err := IsRole(g); err != nil || !is {
		return false, err
	}
	var text, workspace, id string
	var since int64
	err = g.Tx().QueryRow(selectDirectedSpawn, workID, g.Actor(), fence).Scan(&text, &workspace, &id, &since)
	if errors.Is(err, store.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read what was directed: %w", err)
	}
	if err := g.Tx().Alone(); err != nil { // the names of roles are of all
		return false, err
	}
	var e Event
	if err := unmarshal(text, &e); err != nil {
		return false, err
	}
	s, bad := directedSpawn(e.Payload)
	if bad != nil {
		return false, notSpawned("the payload of the directive cannot be read: " + bad.Error())
	}
	var there bool
	if err := g.Tx().QueryRow(selectSpawned, g.Actor(), s.Template, since).Scan(&there); err != nil || there {
		return false, err
	}
	s.Parent = id
	_, err = r.Spawn(g, workspace, s)
	switch schemas.CodeOf(err) {
	case schemas.CodeInvalid, schemas.CodeNotFound, schemas.CodeDenied, schemas.CodeConflict:
		return false, notSpawned(inFull(err))
	}
	return err == nil, err
}

// inFull is what an error says, with each violation.
func inFull(err error) string {
	text := schemas.MessageOf(err)
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		for _, v := range e.Violations {
			text += "; " + v.Path + " " + v.Msg
		}
	}
	return text
}

// notSpawned refuses a report that says that a child is there.
func notSpawned(why string) error {
	return schemas.Invalidf("no role was made: %s", why).
		Expecting("a child as the payload of the directive asks for").
		Try("make one with role_spawn first, or report the work as failed with a note; it is still yours")
}
