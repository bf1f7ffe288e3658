package work

import (
	"errors"
	"fmt"

	"cordelia/internal/jsonschema"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// answers holds a result against the schema its item asks for, if it asks for
// one. A result that does not fit is refused and the lease stands: whoever holds
// it knows best how to mend it.
func answers(tx *store.Tx, r row, p *Report) error {
	var text string
	err := tx.LookupRow(selectAnswer, r.n).Scan(&text)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read answer_schema: %w", err)
	}
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
