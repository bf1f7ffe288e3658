package ops

import (
	"context"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/trust"
)

// ItemMoves are what a person may do to an item as it is: a page shows no button that the server
// would refuse.
type ItemMoves struct {
	memory.Moves
	Judge bool
}

// ItemMoves asks what the person may do to an item that they read, and does nothing.
func (s *Service) ItemMoves(ctx context.Context, person Caller, item memory.Item) (m ItemMoves, err error) {
	op := access.Op{Tool: memoryReadWarm.Name, Effect: access.Read, Human: true, InPerson: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) (err error) {
		if m.Moves, err = memory.MovesOf(g, item.ID); err != nil {
			return err
		}
		m.Judge, err = trust.Assessable(g, item.Author)
		return err
	})
	return m, err
}

// RunsTask reports whether the person may end a task and answer what it asks; a
// person who may only read it may not.
func (s *Service) RunsTask(ctx context.Context, person Caller, task string) (runs bool, err error) {
	op := access.Op{Tool: taskStatus.Name, Effect: access.Read, Human: true, InPerson: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		runs, err = controller.Runs(g, task)
		return err
	})
	return runs, err
}

// Question is a task that asks its user something.
type Question struct {
	TaskID, Intent string
	Questions      []string
}

// Questions lists what tasks ask the person, the newest first, of at most this many.
func (s *Service) Questions(ctx context.Context, person Caller, most int) (list []Question, err error) {
	op := access.Op{Tool: taskStatus.Name, Effect: access.Read, Human: true, InPerson: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		asking, err := controller.List(g, controller.Filter{States: []schemas.TaskState{schemas.TaskClarifying},
			Limit: most})
		list = nil
		for _, t := range asking {
			var asked []string
			if asked, _, err = controller.Asked(g, t.TaskID); err != nil {
				return err
			}
			if len(asked) > 0 {
				list = append(list, Question{t.TaskID, t.Intent, asked})
			}
		}
		return err
	})
	return list, err
}
