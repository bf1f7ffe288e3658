package roles

import (
	"cmp"
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

// Spawned sees to it that what a directive to spawn asked for is there once its work is done, by the
// report of its role or by the approval of a person: where the role did not make the child itself, nor
// asked for it, it is made now, with the rights of the role, which must have the tool for that. It does
// nothing for other work. CodeInvalid says why there can be no such child.
func (r *Roles) Spawned(g access.Grant, workID string) (made bool, err error) {
	if !g.IsHuman() {
		if is, err := IsRole(g); err != nil || !is {
			return false, err
		}
	}
	var text, workspace, id string
	var agent schemas.EntityID
	var since int64
	err = g.Tx().QueryRow(selectDirectedSpawn, workID).Scan(&text, &workspace, &id, &agent, &since)
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
	err = g.Tx().QueryRow(selectSpawned, agent, s.Template, since, workID).Scan(&there)
	if err != nil || there {
		return false, err
	}
	if may, err := g.Could(agent, []string{spawnTool}); err != nil || !may {
		return false, cmp.Or(err, notSpawned(id+" may not call "+spawnTool))
	}
	s.Parent = id
	_, err = r.Spawn(g, workspace, s)
	switch schemas.CodeOf(err) {
	case schemas.CodeInvalid, schemas.CodeNotFound, schemas.CodeDenied, schemas.CodeConflict:
		return false, notSpawned(inFull(err))
	}
	return err == nil, err
}

// spawnTool is the tool that makes a child.
const spawnTool = "role_spawn"

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
		Try("make one with %s first, or report the work as failed with a note, or reject it; it stays as it was",
			schemas.Tool(spawnTool))
}
