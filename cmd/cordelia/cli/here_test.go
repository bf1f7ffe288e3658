package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What a command of a home that was named says to run next is about the same home.
func TestNextCommandsKeepTheHome(t *testing.T) {
	a := &App{}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&a.Home, "home", "/default", "")
	a.Given(f.Lookup("home"))
	look := schemas.Hintf("look first: cordelia restore --dry-run b.db; or, to begin anew: cordelia setup")
	require.Equal(t, look.String(), a.Hint(look), "none was named")
	require.NoError(t, f.Parse([]string{"--home", "100% mine"}))
	require.Equal(t, "look first: cordelia --home '100% mine' restore --dry-run b.db; or, to begin anew: "+
		"cordelia --home '100% mine' setup", a.Hint(look))
	require.Equal(t, "put back what cordelia's backup holds", a.Here("put back what cordelia's backup holds"))
	require.Equal(t, "run it: cordelia --home '100%% mine' mcp --as %s", a.hereFormat("run it: cordelia mcp --as %s"))
}

// A command that was given a database names the next one with it, in the environment, where every
// command reads it; never with a password.
func TestNextCommandsKeepTheDatabase(t *testing.T) {
	a := &App{DB: "postgres://app@db.example/cordelia?sslmode=verify-full&a=50%25"}
	set := "CORDELIA_DB='postgres://app@db.example/cordelia?sslmode=verify-full&a=50%25' "
	require.Equal(t, "run: "+set+"cordelia setup; or "+set+"cordelia agent list",
		a.Hint(schemas.Hintf("run: cordelia setup; or cordelia agent list")))
	require.Equal(t, "(to open it: "+strings.ReplaceAll(set, "%", "%%")+"cordelia console --url %s)",
		a.hereFormat("(to open it: cordelia console --url %s)"))
	require.Equal(t, "bring them there: cordelia migrate --to "+strings.TrimPrefix(strings.TrimSpace(set), "CORDELIA_DB="),
		a.Here("bring them there: cordelia migrate --to ADDRESS"), "what it is moved from is not that database")
	require.Equal(t, "take it out: cordelia config set database ''; then "+set+"cordelia doctor",
		a.Here("take it out: cordelia config set database ''; then cordelia doctor"))
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&a.Home, "home", "/default", "")
	a.Given(f.Lookup("home"))
	require.NoError(t, f.Parse([]string{"--home", "/srv/x"}))
	require.Equal(t, set+"cordelia --home /srv/x setup", a.Here("cordelia setup"))
	a.DB = "postgres://app:secret@db.example/cordelia"
	require.Equal(t, "cordelia --home /srv/x setup", a.Here("cordelia setup"))
}
