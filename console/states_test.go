package console

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/ops/opstest"
)

// An empty house has every page, and each says what to do next.
func TestPagesOfAnEmptyHouse(t *testing.T) {
	b := newBrowser(t)
	b.login()
	for path, next := range map[string]string{"": "cordelia task submit", "tasks": "cordelia task submit",
		"memory?q=zebra": "See as", "groups": "cordelia memory bind", "review": "Nothing waits for you.",
		"swarms": "cordelia swarm create", "roles": "cordelia role apply", "events?actor=stranger": "nothing matches",
		"health": "cordelia run", "agents/claude-code": "cordelia trust assess"} {
		require.Contains(t, b.page(path), next, path)
	}
}

// Every page of a house in use says what it is about.
func TestPagesSayWhatIsSo(t *testing.T) {
	f := furnish(t, "the harbour has three lights")
	for path, words := range map[string][]string{
		"":                            {"the harbour has three lights", "Waits for you", "takes effect once you release it"},
		"tasks/" + f.task:             {"Subtasks", "What each verdict rests on", "harbour master saw", "judge", "Replay"},
		"tasks/" + f.task + "/replay": {"Message", "7 of 7"},
		"agents/doer":                 {"call task_claim", "What it may, and why", "it was not given"},
		"agents/claude-code":          {"verdict by verdict", "wrong"},
		"memory/" + f.item:            {"Where it comes from", "Supersedes"},
		"memory/" + f.older:           {"Superseded by"},
		"memory": {"changed in the last 24 hours", "wrote, 2 times", "memory/" + f.item,
			"judged, 1 time"},
		"groups/harbour":               {"Members", "Culture"},
		"roles":                        {"Who reports to whom", "master", "mate"},
		"roles/port/master":            {"What it decided last", "ship.came"},
		"events":                       {"Verify the record"},
		"events?action=agent_register": {"l1/doer"},
	} {
		body := strings.ToLower(f.page(path))
		for _, word := range words {
			require.True(t, strings.Contains(body, strings.ToLower(word)), "%s says %q: %s", path, word, body)
		}
	}
	for _, path := range f.paths {
		require.NotRegexp(t, `task_[a-z]+ \{"`, html.UnescapeString(f.page(path)), "%s is for people", path)
	}
	status, body, _ := f.post("verify", nil)
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, "Nothing was changed")
}

// However many agents there are, the page shows what each does, and below whom each is whose parent is on
// another page.
func TestManyAgentsArePaged(t *testing.T) {
	b := newBrowser(t)
	b.login()
	const many, busy = 101, 60
	b.Clock.Move(time.Second) // claude-code is older, and on the first page
	var names []string
	for i := range many {
		names = append(names, fmt.Sprint("hand-", i))
	}
	for _, c := range b.crew(names...)[:busy] {
		b.Must(b.Lead, "task_submit", map[string]any{"intent": "count the lights"})
		require.NotNil(t, b.Must(c, "task_claim", map[string]any{})["work"])
	}
	first := b.page("agents")
	more := regexp.MustCompile(`agents\?cursor=[^"&]+`).FindString(first)
	require.NotEmpty(t, more)
	last := b.page(html.UnescapeString(more))
	require.Equal(t, busy, strings.Count(first+last, "data-left="))
	require.NotContains(t, first, "below claude-code")
	require.Equal(t, many-99, strings.Count(last, "below claude-code"))
}

// A page that is fetched again keeps its cards, and with them the focus, by ids of their own.
func TestEveryCardHasAnID(t *testing.T) {
	f := furnish(t, "the harbour")
	named := regexp.MustCompile(` id="([^"]+)"`)
	for _, path := range f.paths {
		page, seen := f.page(path), map[string]bool{}
		require.NotRegexp(t, `<article class="card"( data-entry)?>`, page, path)
		require.NotContains(t, page, `name="id"`, "%s: a field that hides the form's own id", path)
		for _, id := range named.FindAllStringSubmatch(page, -1) {
			require.False(t, seen[id[1]], "%s: %s twice", path, id[1])
			seen[id[1]] = true
		}
	}
}

// What is gone, was never there, or is none of the person's is said, with what to do next.
func TestBrokenPages(t *testing.T) {
	f := furnish(t, "the harbour")
	const nothing = "00000000-0000-7000-8000-000000000000"
	for path, status := range map[string]int{"tasks/" + nothing: 404, "agents/nobody": 404, "memory/" + nothing: 404,
		"review/" + nothing: 404, "swarms/nothing": 404, "groups/nothing": 404, "roles/port/nobody": 404,
		"roles/nothing/nobody": 404, "tasks?cursor=x": 400, "agents?cursor=x": 400, "memory?as=nobody": 404,
		"health?by=colour": 400, "tasks/" + f.task + "/replay?step=x": 400} {
		got, body := f.get(path)
		require.Equal(t, status, got, "%s: %s", path, body)
		require.Contains(t, body, `role="alert"`, path)
		require.Contains(t, body, "That did not work", path)
	}
	_, body := f.get("review/" + nothing)
	require.Contains(t, body, "the page Review shows what waits", "a person has no tools")
	require.Contains(t, body, "To what happens now")
	status, body := newBrowser(t).get("")
	require.Equal(t, http.StatusUnauthorized, status)
	require.NotContains(t, body, "To what happens now", "it would lead back here")
	status, body, _ = f.post("memory/"+f.item+"/delete", nil)
	require.Equal(t, http.StatusForbidden, status, "an agent's own: %s", body)
	mine := f.Must(f.Person(), "memory_write_warm", map[string]any{"type": "learning",
		"data": map[string]any{"type": "insight", "content": "the harbour is deep"}})["id"].(string)
	status, body, to := f.post("memory/"+mine+"/delete", nil)
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Equal(t, Root+"memory/"+mine, to)
	require.Contains(t, f.page("memory/"+mine), "Bring it back")
	f.post("memory/"+mine+"/delete", map[string][]string{"undo": {"1"}})
	require.Contains(t, f.page("memory/"+mine), "Delete it")
}

// A person changes what is theirs in the version that was shown, and supersedes the rest.
func TestAPersonWritesMemory(t *testing.T) {
	b := newBrowser(t)
	b.login()
	id := b.Must(b.Person(), "memory_write_warm", map[string]any{"type": "learning", "data": map[string]any{
		"type": "insight", "content": "the harbour has two lights"}})["id"].(string)
	form := func(how, version, content string) map[string][]string {
		return map[string][]string{"how": {how}, "version": {version}, "type": {"learning"}, "data": {fmt.Sprintf(
			`{"type": "insight", "content": %q}`, content)}}
	}
	status, body, _ := b.post("memory/"+id+"/write", form("edit", "1", "the harbour has three lights"))
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Contains(t, b.page("memory/"+id), "three lights")
	status, body, _ = b.post("memory/"+id+"/write", form("edit", "1", "the harbour has four lights"))
	require.Equal(t, http.StatusConflict, status, body)
	status, body, to := b.post("memory/"+id+"/write", form("supersede", "2", "the harbour has five lights"))
	require.Equal(t, http.StatusSeeOther, status, body)
	require.NotEqual(t, Root+"memory/"+id, to)
	require.Contains(t, b.page("memory/"+id), "superseded")
	status, _, _ = b.post("memory/"+id+"/write", map[string][]string{"data": {"{"}})
	require.Equal(t, http.StatusBadRequest, status)
}

// In a large house every page is bounded, and says where the rest is.
func TestPagesOfALargeHouse(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a thousand rows of each kind")
	}
	b := newBrowser(t)
	b.login()
	const many = 1000
	for i := range many {
		b.written(map[string]any{"type": "learning", "data": map[string]any{"type": "insight",
			"content": fmt.Sprintf("light %d of the harbour is lit", i)}})
		b.Must(b.Lead, "task_submit", map[string]any{"request": fmt.Sprintf("count light %d", i)})
	}
	for i := range 150 {
		b.Must(b.Lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "x",
			"name": fmt.Sprintf("hand-%d", i)})
	}
	for path, more := range map[string]string{"tasks": "Older ones", "agents": "More",
		"memory?as=claude-code&q=harbour": "More",
		"memory?as=claude-code":           "More", "": "", "events": ""} {
		body := b.page(path)
		require.Contains(t, body, more, path)
		r := httptest.NewRequest(http.MethodGet, Root+path, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		send(w, r, http.StatusOK, []byte(body), func() []byte { return compressed([]byte(body), 1) })
		require.Less(t, w.Body.Len(), 60<<10, path)
	}
}

// Each button of an agent does what it says: the table of its lifecycle decides which there are.
func TestTheButtonsOfAnAgentWork(t *testing.T) {
	b := newBrowser(t)
	b.login()
	b.Must(b.Lead, "agent_register", map[string]any{"agent_type": "custom", "display_name": "hand", "name": "hand"})
	for _, step := range []struct{ action, status string }{{"activate", "active"}, {"suspend", "suspended"},
		{"resume", "active"}, {"quarantine", "active"}, {"lift", "active"}, {"deactivate", "deactivated"},
		{"reactivate", "active"}} {
		require.Contains(t, b.page("agents/hand"), `value="`+step.action+`"`)
		status, body, _ := b.post("agents/hand/move", map[string][]string{"action": {step.action}, "reason": {"a try"}})
		require.Equal(t, http.StatusSeeOther, status, body)
		require.Contains(t, b.page("agents/hand"), `s-`+step.status+`"`, step.action)
	}
	status, _, _ := b.post("agents/hand/move", map[string][]string{"action": {"remove"}})
	require.Equal(t, http.StatusBadRequest, status)
}

// A person is the judge of what they read: what they write on a page is theirs also after they
// looked at second-hand words. Of an agent that read the same, and of a program with a token of
// the person's, it is external.
func TestReadingPagesMarksNoPerson(t *testing.T) {
	b := newBrowser(t)
	b.login()
	rumour := b.written(map[string]any{"type": "learning", "source": "external", "data": map[string]any{
		"type": "insight", "content": "somebody says that the harbour burns"}})
	require.Contains(t, b.page("memory/"+rumour), "burns")
	require.Contains(t, b.page("memory?as=claude-code&q=harbour"), "burns")
	require.Zero(t, b.Number(`SELECT count(*) FROM tainted_sessions`))
	mine := b.Must(b.Person(), "memory_write_warm", opstest.Note("the harbour is quiet"))["id"].(string)
	status, body, _ := b.post("memory/"+mine+"/write", map[string][]string{"how": {"edit"}, "version": {"1"},
		"data": {`{"type": "insight", "content": "the harbour is calm"}`}})
	require.Equal(t, http.StatusSeeOther, status, body)
	page := b.page("memory/" + mine)
	require.Contains(t, page, "calm")
	require.NotContains(t, page, "words from outside")

	b.Must(b.Lead, "memory_read_warm", map[string]any{"ids": []string{rumour}})
	require.Contains(t, b.page("memory/"+b.written(opstest.Note("the harbour may burn"))), "words from outside")
}

// What much work cost is summed up on a page that stays small: the dearest first, with where
// the rest is.
func TestCostsOfMuchWorkAreBounded(t *testing.T) {
	b := newBrowser(t)
	b.login()
	for i := range 2 * mostCosts {
		b.Must(b.Lead, "task_submit", map[string]any{"request": fmt.Sprintf("count light %d", i), "intent": "count"})
	}
	b.SQL(`INSERT INTO seat_runs(item, fence, client, outcome, input_tokens, output_tokens, cost, started_at, ended_at)
		SELECT n, 1, 'claude-code', 'answered', 10, 1, n * 1000000, created_at, created_at FROM work_items`)
	body := b.page("health?by=task")
	require.Contains(t, body, fmt.Sprintf("The dearest; %d more", mostCosts))
	require.Equal(t, mostCosts, strings.Count(body, `<th scope="row">`))
	require.Contains(t, body, fmt.Sprintf("$%d.00", 2*mostCosts), "the dearest")
	require.NotContains(t, body, "$1.00")
	require.NotContains(t, b.page("health"), "The dearest")
}
