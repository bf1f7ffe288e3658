//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scene fills a home with something of all that commands show.
const scene = `
all='"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group"]'
cordelia memory group create team --description 'the parser'
cordelia agent register --type swarm-worker --name scout --group team \
	--capabilities '{"tools": ["task_claim", "task_report", "memory_write_warm"], "memory_read": {'"$all"'}, "memory_write": {'"$all"'}}'
cordelia memory write --type learning '{"type":"insight","content":"Retries need jitter","tags":["net"]}' --group team >item
cordelia memory write --type learning '{"type":"procedure","content":"Ask before each landing."}' --as scout >held
cordelia memory write "The bridge holds nine tons" --group team --subject bridge --key load >nine
cordelia memory write "The bridge holds two tons" --group team --subject bridge --key load --as scout >two
cordelia memory bind . team
cordelia task submit "Find out why the build is slow" --group team
cordelia task claim --as scout --json | sed -n 's/^ *"work_id": "\(.*\)",$/\1/p' >work
cordelia task report $(cat work) done --fence 1 --as scout --result '{"answer": "no cache", "seen": [{"file": "a.go"}]}'
cordelia task submit --items '[{"intent": "one", "criteria": ["it runs"], "inputs": {"from": {"a": [1, 2]}}, "answer_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}]' --group team
cordelia task submit --request "say hello" --tools bash --json | sed -n 's/^ *"task_id": "\(.*\)",$/\1/p' >task
cordelia swarm create Count the sheep --strategy broadcast --swarm-id swarm-sheep --agents '[{"slot": "hand"}]'
cordelia trust assess $(cat two) wrong
cordelia memory hot patch '{"active":{"focus":"the parser"},"agent":{"working_memory":{"on":["a.go"]}}}'
cordelia audit checkpoint
cat >team.yaml <<end
workspace: team
owner: ann
operators: {triage: {triggers: {label: issue.opened}, does: {intent: "label {payload.title}"}}}
roles: [{role_id: triager, soul: You triage., domains: [issues], operator_ids: [triage], authority: {autonomous: [label]}}]
role_templates: {kid: {name_pattern: "kid {area}", soul_template: "You triage {area}.", parameters: [area], allowed_spawners: [triager]}}
end
`

// peopleRead is what a person types for each command that prints for people, in an order
// in which each works; "" is for those that print for programs, or for a terminal alone.
var peopleRead = []struct{ command, words string }{
	{"status", ""}, {"logs", ""}, {"doctor", ""}, {"version", ""}, {"config list", ""}, {"config get", "cooldown"},
	{"config set", "cooldown 10m"}, {"agent list", ""}, {"agent show", "scout"}, {"agent capabilities", "scout"},
	{"agent activate", "scout"}, {"agent register", "--type swarm-worker --name second"}, {"agent suspend", "second"},
	{"agent resume", "second"},
	{"agent deactivate", "second"}, {"agent reactivate", "second"}, {"key info", "scout"}, {"memory search", "retries"},
	{"memory list", ""}, {"memory read", "$(cat item) --history"}, {"memory write", "'Caches need a bound'"},
	{"memory share", "$(cat held) team"}, {"memory release", ""}, {"memory group list", ""},
	{"memory group read", "team"},
	{"memory group create", "other"}, {"memory group add", "other scout"}, {"memory group remove", "other scout"},
	{"memory group update", "other --emcon"}, {"memory group invitations", ""}, {"memory hot show", ""},
	{"memory hot patch", `'{"active":null}'`}, {"memory session", "start"}, {"memory bind", ". team"},
	{"memory bindings", ""},
	{"memory unbind", "."}, {"memory delete", "$(cat nine)"}, {"events poll", ""}, {"events subscribe", "list"},
	{"trust show", "scout"}, {"trust assess", "$(cat item) right"}, {"trust relayed", ""}, {"trust verify", ""},
	{"trust quarantine", "scout"}, {"trust lift", "scout"}, {"audit tail", "--limit 100"}, {"audit report", ""},
	{"audit verify", ""},
	{"audit checkpoint", ""}, {"task list", ""}, {"task show", "$(cat work) --detail"}, {"task claim", "--as scout"},
	{"task submit", "'another' --group team"}, {"task cancel", "$(cat task)"}, {"task watch", "$(cat task)"},
	{"swarm list", ""},
	{"swarm status", "swarm-sheep"}, {"swarm create",
		`Wolves --strategy broadcast --agents '[{"slot": "eye"}]' --dry-run`},
	{"swarm resize", `swarm-sheep --agents '[{"slot": "hand"}]'`}, {"swarm disband", "swarm-sheep"},
	{"review list", ""}, {"review", ""},
	{"role apply", "team.yaml"}, {"role list", ""}, {"role show", "triager"},
	{"role event", `issue.opened --domain issues --payload '{"title": "It hangs"}'`},
	{"role explain", `'{"type": "issue.lost", "domain": "issues"}' --all`},
	{"role spawn", `kid --parent triager --params '{"area": "docs"}'`},
	{"role message", "'Look at the oldest first' --to triager"}, {"role drafts", ""}, {"role test", "triager"},
	{"role testing-report", "triager"}, {"role activate", "triager"}, {"role suspend", "triager"},
	{"role resume", "triager"}, {"role terminate", "kid-docs"},
	{"backup", "file.backup"}, {"cost", ""},
}

// Of these a person sees nothing of their own, or what they show is tested elsewhere.
var notWalked = map[string]string{
	"run": "its own tests", "worker": "its own tests", "mcp": "for programs", "hook": "for programs",
	"serve": "a log", "console": "its own tests", "completion": "a script",
	"export":       "a file of JSON lines",
	"agent record": "a record to carry", "agent token": "a token", "audit prove": "a proof to carry",
	"demo": "its own transcript", "demo roles": "its own transcript", "demo run": "its own tests",
	"proof live":  "its own tests",
	"role export": "a file to apply", "role example": "a file to apply", "role approve": "transcripts",
	"events tail": "endless", "setup": "its own tests", "uninstall": "its own tests", "import": "transcripts",
	"restore": "transcripts", "migrate": "needs a database server", "embeddings install": "needs a package of 26 MB",
	"agent adopt": "transcripts", "key unwrap": "transcripts", "key rotate": "transcripts",
	"key passphrase": "transcripts",
	"task report":    "in the scene", "task retry": "transcripts", "review show": "transcripts",
	"review approve": "transcripts",
	"review reject":  "transcripts", "review return": "transcripts", "review withdraw": "transcripts",
	"trust relayed confirm": "transcripts", "trust relayed reject": "transcripts", "agent purge": "transcripts",
}

var (
	wholeID  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	bareTime = regexp.MustCompile(`\d\d:\d\d(:\d\d)?(\.\d+)?( UTC| [+-]\d\d:\d\d|Z)?`)
)

// formLine is one of the form of an answer, which a person fills in and types as JSON.
var formLine = regexp.MustCompile(`^\s+"\w+": (<.*>,?|[{\[])$`)

// unfit says what of a text is not for people.
func unfit(text string) (found []string) {
	for line := range strings.SplitSeq(text, "\n") {
		for _, at := range bareTime.FindAllString(line, -1) {
			if !strings.HasSuffix(at, "UTC") && !strings.HasSuffix(at, "Z") && !strings.ContainsAny(at, "+-") {
				found = append(found, "a time without a zone: "+line)
			}
		}
		if wholeID.MatchString(line) {
			found = append(found, "an id of 36 characters: "+line)
		}
		if formLine.MatchString(line) {
			continue
		}
		for _, sign := range []string{`{"`, `":`, "key root", `"$schema"`} {
			if strings.Contains(line, sign) {
				found = append(found, "JSON or a schema: "+line)
				break
			}
		}
	}
	return found
}

// What commands print for people has short ids, words in place of JSON, and times with
// their zone.
func TestPeopleReadWords(t *testing.T) {
	for _, zone := range []string{"UTC", "Asia/Kathmandu"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "ann")
			in := func(line string) (string, error) {
				cmd := s.command(line)
				cmd.Env = append(cmd.Env, "TZ="+zone)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := in("set -e\n" + scene)
			require.NoError(t, err, "%s", out)
			require.Empty(t, unfit(out), "the scene")
			for _, one := range peopleRead {
				line := strings.TrimSpace(fmt.Sprintf("cordelia %s %s", one.command, one.words))
				out, _ := in(line)
				require.NotEmpty(t, out, line)
				require.NotContains(t, out, "unknown command", line)
				require.Empty(t, unfit(out), "%s\n%s", line, out)
			}
		})
	}
}

// The walk above misses no command.
func TestPeoplesCommandsAreWalked(t *testing.T) {
	walked := map[string]bool{}
	for _, one := range peopleRead {
		walked[one.command] = true
	}
	root := rootCommand((&cli.App{Out: os.Stdout, ErrOut: os.Stderr, In: os.Stdin}), nil)
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			name := strings.TrimPrefix(c.CommandPath(), "cordelia ")
			if !c.HasSubCommands() {
				assert.True(t, walked[name] || notWalked[name] != "", "%s is not walked", name)
			}
			walk(c)
		}
	}
	walk(root)
}
