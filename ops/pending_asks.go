package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

// asks reports whether the caller's client can ask its user the questions of a call that waits.
func (c *Call) asks() bool { return c.Caller.Asks && c.Caller.MayPend }

// askedOf gives the questions of a task that the call waits for, if the caller may answer them.
func askedOf(g access.Grant, in taskStatusIn) (a Asking, err error) {
	if in.TaskID == "" || in.WorkID != "" {
		return a, nil
	}
	questions, nth, err := controller.Asked(g, in.TaskID)
	return Asking{Questions: questions, Name: fmt.Sprintf("answers-%d", nth), Tool: taskSubmit.Name,
		Answer: func(text string) map[string]any {
			return map[string]any{"task_id": in.TaskID, "answers": text}
		}}, err
}

// asking is what a waiting call of the caller's asks; nothing if the caller's client
// asks no user.
func (s *Service) asking(ctx context.Context, caller Caller, k pendingRow) (a Asking, err error) {
	if !caller.Asks {
		return a, nil
	}
	c, err := k.call(s, caller)
	if err != nil {
		return a, err
	}
	err = s.Auth.Do(ctx, caller.Principal, c.lookOp(), func(g access.Grant) (err error) {
		a, err = c.Op.keeping.asks(g, c.args)
		return err
	})
	return a, err
}

// AnswerPending gives a waiting call of the caller the user's answer from its client; "" = go on
// without; to names the questions that were asked. It is a separate call, with the caller's
// rights. An answer to a question that is not open is ignored.
func (s *Service) AnswerPending(ctx context.Context, caller Caller, id, to, text string) error {
	k, err := s.readPending(ctx, caller.Entity, id)
	if err != nil || k.state != CallWaiting {
		return err
	}
	a, err := s.asking(ctx, caller, k)
	if err != nil || len(a.Questions) == 0 || a.Name != to {
		return err
	}
	c, err := k.call(s, caller)
	if err != nil {
		return err
	}
	in := a.Answer(text)
	if c.As != "" {
		in["as"] = c.As
	}
	args, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	caller.MayPend = false
	if _, err = Find(a.Tool).Call(ctx, s, caller, args); errors.Is(err, schemas.ErrConflict) {
		return nil // answered meanwhile
	}
	return err
}
