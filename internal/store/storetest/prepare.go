package storetest

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store/postgres"
)

// Prepare has the database at address prepare statements of the project, and gives what it
// refused. The types of parameters are what the statement lets the server choose, and numbers
// or texts where it does not.
func Prepare(t testing.TB, address string, statements []string) map[string]error {
	t.Helper()
	ctx := context.Background()
	pg, err := pgconn.Connect(ctx, address)
	require.NoError(t, err)
	defer pg.Close(ctx) //nolint:errcheck // only a test
	refused := map[string]error{}
	for _, s := range statements {
		types := make([]uint32, 20)
		text := postgres.Translate(s)
		for {
			_, err := pg.Prepare(ctx, "", text, types)
			if err == nil {
				break
			}
			if n, kind := undecided(text, err); n > 0 && n <= len(types) && types[n-1] == 0 {
				types[n-1] = kind
				continue
			}
			refused[s] = err
			break
		}
	}
	return refused
}

var (
	parameter = regexp.MustCompile(`\$(\d+)`)
	operand   = regexp.MustCompile(`\$(\d+)\s*$`)
)

// undecided gives the parameter whose type the server asks for, and one that may do; 0 if err
// is another one.
func undecided(text string, err error) (number int, kind uint32) {
	const asText, asNumber = 25, 20 // types by their numbers in the server's catalogue
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return 0, 0
	}
	var found []string
	switch e.Code {
	case "42P18", "42P08": // the message names the parameter
		found, kind = parameter.FindStringSubmatch(e.Message), asText
	case "42725": // an operator between two; the position is its own
		found, kind = operand.FindStringSubmatch(string([]rune(text)[:e.Position-1])), asNumber
	}
	if found == nil {
		return 0, 0
	}
	number, _ = strconv.Atoi(found[1]) //nolint:errcheck // digits
	return number, kind
}
