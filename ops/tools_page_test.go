package ops

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
)

// docs/tools.md is what the catalogue says, so it says nothing that is not so.
func TestToolsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(toolsHead)
	worker := workerTools(t)
	for _, set := range Toolsets() {
		fmt.Fprintf(&b, "\n## %s\n", set)
		for _, o := range Catalogue() {
			if o.Toolset == set {
				describeTool(t, &b, o, slices.Contains(worker, o.Name))
			}
		}
	}
	golden(t, filepath.Join("..", "docs", "tools.md"), whole, b.String())
}

const toolsHead = `# Tools

<!-- This page is made from the catalogue: make golden. -->

What an agent can call over MCP. An agent sees and may call the tools its capabilities
name; ` + "`cordelia mcp --toolsets agents,memory`" + ` leaves out the rest. People have the same at
the command line: ` + "`cordelia --help`" + `.

- Arguments in **bold** are required. An unknown one is refused, with the nearest known name;
  upper case, a dash or an underscore more or less make no other name, and some other names that
  models use, such as ` + "`q` for `query`" + `, are taken.
- Where a tool takes ` + "`as`" + `, the caller acts as an agent below it: with that agent's rights, and
  both names in the record. Identity itself is never an argument.
- Every tool that changes something takes ` + "`idempotency_key`" + `: the same call with the same key
  changes nothing again and gets the recorded answer. After a killed agent_register or
  swarm_create the repeated call also writes the key files that are missing on this machine.
- A refusal is a tool result that says its code and what is so, what is wrong with each argument,
  "expected: …" and, as "next: …", what to call next. A program finds the same in its ` + "`_meta`" + `, below
  ` + "`cordelia/error`: `code`, `message`, `violations`, `expected`, `next`" + `. A tool that the agent has
  not is an error of the protocol, as one that does not exist. Long lists end with a ` + "`cursor`" + `; the
  same call with it goes on.
- *reads* changes nothing; *writes* adds or changes; *takes away* may end or hide something; *safe to
  repeat*: the same call again changes nothing more; *in person only*: not with ` + "`as`" + `; *loaded at
  once*: a client that searches for tools shows it from the start; *a worker has it by default*: an agent
  of type swarm-worker, unless its parent names other tools.
`

func describeTool(t *testing.T, b *strings.Builder, o *Operation, worker bool) {
	t.Helper()
	s, err := o.schemas()
	require.NoError(t, err)
	out, err := schemaOf(o.out)
	require.NoError(t, err)
	marks := []string{map[access.Effect]string{access.Read: "reads", access.Write: "writes",
		access.Destroy: "takes away"}[o.Effect]}
	for mark, holds := range map[string]bool{"safe to repeat": o.Repeatable && o.Mutates(),
		"in person only": o.InPerson,
		"loaded at once": o.AlwaysLoad, "a worker has it by default": worker} {
		if holds {
			marks = append(marks, mark)
		}
	}
	slices.Sort(marks[1:])
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n*%s*\n", o.Name, o.Description, strings.Join(marks, " · "))
	rows := 0
	for _, p := range s.arguments.properties {
		if p.name == "as" || p.name == "idempotency_key" {
			continue
		}
		if rows++; rows == 1 {
			b.WriteString("\n| argument | type | |\n|---|---|---|\n")
		}
		name := "`" + p.name + "`"
		if slices.Contains(s.arguments.required, p.name) {
			name = "**" + name + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, cellOf(kindOf(p.schema)), cellOf(p.description))
	}
	if len(out.properties) > 0 {
		var answers []string
		for _, p := range out.properties {
			answers = append(answers, "`"+p.name+"`")
		}
		fmt.Fprintf(b, "\nAnswers with %s.\n", strings.Join(answers, ", "))
	}
}

// kindOf words a type: its choices, or what it is a list or an object of.
func kindOf(s *schema) string {
	switch {
	case len(s.enum) > 0:
		return "one of `" + strings.Join(s.enum, "` `") + "`"
	case s.items != nil && len(s.items.enum) > 0:
		return "list of `" + strings.Join(s.items.enum, "` `") + "`"
	case s.items != nil:
		return "list of " + kindOf(s.items)
	case len(s.properties) > 0:
		var members []string
		for _, p := range s.properties {
			name := p.name
			if !slices.Contains(s.required, p.name) {
				name += "?"
			}
			members = append(members, name)
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return s.kind
}

func cellOf(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
