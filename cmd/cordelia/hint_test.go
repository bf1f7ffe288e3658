package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

// A hint names its calls as commands at a terminal.
func TestHintsNameCommands(t *testing.T) {
	a := &cli.App{}
	rootCommand(a, nil)
	for want, hint := range map[string]schemas.Hint{
		"cordelia agent list shows the agents": schemas.Hintf("%s shows the agents", schemas.Tool("agent_list")),
		"correct it and run cordelia memory search again": schemas.Hintf("correct it and %s again",
			schemas.Do("memory_search")),
		"cordelia memory group list shows them": schemas.Hintf("%s shows them",
			schemas.Tool("memory_group", "action", "list")),
		"see cordelia memory group":    schemas.Hintf("see %s", schemas.Tool("memory_group")),
		"cordelia task list lists all": schemas.Hintf("%s lists all", schemas.Alone("task_status")),
		"cordelia task show with it":   schemas.Hintf("%s with it", schemas.Tool("task_status")),
		"cordelia agent show scout":    schemas.Hintf("%s", schemas.Tool("agent_list", "agent", "scout")),
		"cordelia task show 7 --detail; then": schemas.Hintf("%s; then",
			schemas.Tool("task_status", "work_id", "7", "detail", true)),
		`cordelia task report 7 done --fence 2 --result '{"a":"it'\''s"}'`: schemas.Hintf("%s",
			schemas.Tool("task_report", "work_id", "7", "fence", 2, "outcome", "done",
				"result", map[string]any{"a": "it's"})),
		"cordelia agent capabilities w --capabilities '{\"ttl_seconds\":5}' --group a --group b": schemas.Hintf("%s",
			schemas.Tool("agent_capabilities", "agent", "w", "groups", []string{"a", "b"},
				"capabilities", map[string]int{"ttl_seconds": 5})),
		"resume it: cordelia agent resume scout": schemas.Hintf("resume it: %s",
			schemas.Tool("agent_lifecycle", "agent", "scout", "action", "resume")),
		"cordelia agent resume": schemas.Hintf("%s",
			schemas.Tool("agent_lifecycle", "action", "resume")),
		"words alone, such as task_status, stay": schemas.Hintf("words alone, such as task_status, stay"),
	} {
		require.Equal(t, want, a.Hint(hint))
	}
}

// A command that was given a home names the next one with it.
func TestHintsKeepTheHome(t *testing.T) {
	a := &cli.App{}
	root := rootCommand(a, nil)
	require.NoError(t, root.PersistentFlags().Parse([]string{"--home", "/srv/x"}))
	require.Equal(t, "run cordelia --home /srv/x agent show scout; or cordelia --home /srv/x setup",
		a.Hint(schemas.Hintf("%s; or cordelia setup", schemas.Do("agent_list", "agent", "scout"))))
}

// A hint that says to make a call again names the command that was typed, whichever of those of
// its operation that is.
func TestHintsNameTheTypedCommand(t *testing.T) {
	a := &cli.App{}
	commands := map[string][]string{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		a.Typed = cmd
		op := a.Operation()
		if op == "" {
			return
		}
		commands[op] = append(commands[op], cmd.CommandPath())
		require.Equal(t, "run "+cmd.CommandPath()+" again", a.Hint(schemas.Hintf("%s again", schemas.Do(op))))
	}
	walk(rootCommand(a, nil))
	several := 0
	for op, of := range commands {
		a.Typed = nil
		require.NotNil(t, ops.Find(op))
		if len(of) > 1 {
			several++
		}
	}
	require.GreaterOrEqual(t, several, 8, "operations with several commands")

	list, _, err := rootCommand(a, nil).Find([]string{"task", "list"})
	require.NoError(t, err)
	a.Typed = list
	require.Equal(t, "cordelia task show with it", a.Hint(schemas.Hintf("%s with it", schemas.Tool("task_status"))),
		"another call of the same operation")
	require.Equal(t, "run cordelia task show 7", a.Hint(schemas.Hintf("%s", schemas.Do("task_status", "work_id", "7"))),
		"what the typed command does not take")
}

// Every operation of the catalogue has a command, so that none is named as a tool.
func TestEveryOperationIsACommand(t *testing.T) {
	a := &cli.App{}
	rootCommand(a, nil)
	for _, o := range ops.Catalogue() {
		command := a.Hint(schemas.Hintf("%s", schemas.Tool(o.Name)))
		require.True(t, strings.HasPrefix(command, "cordelia ") || o.Name == "review_decide", o.Name)
	}
}

// Every flag says something that its name does not.
func TestFlagsSayWhatTheyAreFor(t *testing.T) {
	a := &cli.App{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			words := strings.Fields(strings.NewReplacer(strings.ReplaceAll(f.Name, "-", " "), "", ":", " ", ",",
				" ").Replace(f.Usage))
			require.GreaterOrEqual(t, len(words), 2, "%s --%s: %q", cmd.CommandPath(), f.Name, f.Usage)
			require.NotRegexp(t, `^(:|\()`, f.Usage, "%s --%s", cmd.CommandPath(), f.Name)
		})
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(rootCommand(a, nil))
}

// What is missing on a command line is named, one word for each; approve takes pairs.
func TestMissingWordsAreNamed(t *testing.T) {
	root := rootCommand((&cli.App{}), nil)
	approve, _, err := root.Find([]string{"review", "approve"})
	require.NoError(t, err)
	require.ErrorContains(t, approve.Args(approve, nil), "cordelia review approve needs ID HASH ")
	require.ErrorContains(t, approve.Args(approve, []string{"7"}), "cordelia review approve needs HASH ")
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if c.Args != nil && !c.HasSubCommands() {
				if err := c.Args(c, nil); err != nil {
					message, _, _ := strings.Cut(err.Error(), " (expected")
					require.NotContains(t, strings.Trim(message, "."), "…", c.CommandPath())
					require.NotContains(t, message, "[", c.CommandPath())
					require.NotContains(t, message, "]", c.CommandPath())
				}
			}
			walk(c)
		}
	}
	walk(root)
}
