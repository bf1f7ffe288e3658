package work

import (
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/internal/jsonschema"
	"cordelia/schemas"
)

// answered checks a result against its item's schema and commands, if it has any: the commands
// must exit 0 on the result. A result that does not match is refused and the lease stays: its
// holder can fix the result best. unproven reports that the node ran no commands, so that a
// person decides (INV-WORK-CHECKED).
func (a asks) answered(g access.Grant, r row, p *Report) (unproven bool, err error) {
	if a.schema != "" {
		if err := matches(a.schema, r, p); err != nil {
			return false, err
		}
	}
	if a.checks == "" {
		return false, nil
	}
	return proven(g, r, a.checks)
}

// proven checks an item's commands against the node's own run of them in this lease.
func proven(g access.Grant, r row, checks string) (unproven bool, err error) {
	var commands []string
	if err := json.Unmarshal([]byte(checks), &commands); err != nil {
		return false, fmt.Errorf("checks of %s: %w", r.id, err)
	}
	calls, recorded, err := Recorded(g, r.n, r.fence)
	if err != nil || !recorded {
		return !recorded, err
	}
	exits := map[string]int{}
	for _, c := range calls {
		exits[c.Input] = c.Exit
	}
	for _, command := range commands {
		exit, ran := exits[command]
		if !ran {
			return true, nil
		}
		if exit != 0 {
			return false, schemas.Invalidf("the node ran %s on the result, and it exited %d; the work is still yours",
				schemas.Shorten(command, 200), exit).Expecting("a result on which it exits 0").
				Try("mend it, or report it as failed with a note")
		}
	}
	return false, nil
}

// matches checks a result against a schema.
func matches(text string, r row, p *Report) error {
	s, err := jsonschema.Foreign([]byte(text))
	if err != nil {
		return fmt.Errorf("answer_schema of %s %w", r.id, err)
	}
	result := p.result
	if result == "" {
		result = "null"
	}
	found, err := s.CheckText([]byte(result))
	if err != nil || len(found) == 0 {
		return err
	}
	for i := range found {
		found[i].Path = "/result" + found[i].Path
	}
	return schemas.Invalidf("the result is not what the item asks for; it is still yours").
		Expecting("a result that fits the answer_schema of its brief").
		Try("correct what is listed and %s again, or report it as failed with a note", schemas.Do("task_report")).
		With(found...)
}
