package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// What is worded for tools names commands to whoever is at a terminal.
func TestHintsNameCommands(t *testing.T) {
	a := &app{}
	a.rootCommand(nil)
	for tool, want := range map[string]string{
		"agent_list shows the agents below you": "cordelia agent " +
			"list shows the agents below you",
		"correct what is listed and call memory_search again": "correct what is " +
			"listed and run cordelia memory search again",
		"memory_group with action list shows your groups; agent_list does not": "cordelia memory " +
			"group list shows your groups; cordelia agent list does not",
		"with memory_group, action add, role owner": "with cordelia " +
			"memory group add, role owner",
		"memory_session action=start": "cordelia memory " +
			"session start",
		"see memory_group": "see cordelia " +
			"memory group",
		"task_status without arguments lists the work you may see": "cordelia task list " +
			"lists the work you may see",
		"task_status with the task_id shows it": "cordelia task show " +
			"with the task_id shows it",
		`agent_list {"agent": "scout"}`: "cordelia agent " +
			"show scout",
		`task_status {"work_id": "7", "detail": true}; then`: "cordelia task show " +
			"7 --detail; then",
		`task_report {"work_id": "7", "fence": 2, "outcome": "done", "result": {"a": "it's"}}`:                                   `cordelia task report 7 done --fence 2 --result '{"a": "it'\''s"}'`,
		`widen them: agent_capabilities {"agent": "w", "groups": ["a","b"], "capabilities": {"memory_read": {"groups": ["a"]}}}`: `widen them: cordelia agent capabilities w --capabilities '{"memory_read": {"groups": ["a"]}}' --group a --group b`,
		`resume it: agent_lifecycle {"agent": "scout", "action": "resume"}`:                                                      "resume it: cordelia agent resume scout",
		`agent_capabilities {"agent": "scout"} shows its tools`:                                                                  "cordelia agent capabilities scout shows its tools",
		`task_report {"result": {…}}`:          `cordelia task report {"result": {…}}`,
		"give work_id and max_parallel_ops":    "give work_id and max_parallel_ops",
		"cordelia review shows what waits":     "cordelia review shows what waits",
		"":                                     "",
		"agent_lifecycle with action resume":   "cordelia agent resume",
		"agent_lifecycle reactivates it until": "cordelia agent reactivates it until",
		"a_b agent_lists":                      "a_b agent_lists",
	} {
		require.Equal(t, want, a.commands(tool))
	}
}

// Every operation of the catalogue has a command, so that none is named as a tool.
func TestEveryOperationIsACommand(t *testing.T) {
	a := &app{}
	a.rootCommand(nil)
	for _, o := range ops.Catalogue() {
		require.True(t, strings.HasPrefix(a.commands(o.Name), "cordelia ") || o.Name == "review_decide", o.Name)
	}
}

// Every flag says something that its name does not.
func TestFlagsSayWhatTheyAreFor(t *testing.T) {
	a := &app{}
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
	walk(a.rootCommand(nil))
}

// What is missing on a command line is named, one word for each; approve takes pairs.
func TestMissingWordsAreNamed(t *testing.T) {
	root := (&app{}).rootCommand(nil)
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
