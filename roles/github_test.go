package roles

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Each kind of GitHub's requests that ships becomes its event, in its thread, with what is needed to
// act on it; all others are no events.
func TestGitHubsRequests(t *testing.T) {
	const about = `"repository": {"full_name": "o/r"}, "sender": {"login": "eve"}`
	const pull = `"pull_request": {"number": 9, "title": "T", "html_url": "u", "head": {"ref": "b", "sha": "c0ffee"}}`
	for _, c := range []struct{ kind, body, event, thread, alias, payload string }{
		{"issues", `{"action": "opened", "issue": {"number": 7, "title": "T", "body": "B"}, `, "issue.opened", "issue o/r#7",
			"", `"title":"T"`},
		{"issue_comment", `{"action": "created", "issue": {"number": 7, "title": "T"}, "comment": {"body": "Me, too",
			"html_url": "c"}, `, "comment.created", "issue o/r#7", "", `"comment":"Me, too"`},
		{"issue_comment", `{"action": "created", "issue": {"number": 9, "pull_request": {}}, "comment": {"body": "No"}, `,
			"comment.created", "pull o/r#9", "", `"comment":"No"`},
		{"pull_request", `{"action": "opened", ` + pull + `, `, "pull_request.opened", "pull o/r#9", "", `"branch":"b"`},
		{"pull_request", `{"action": "opened", "pull_request": {"number": 9, "body": "This Closes: #7."}, `,
			"pull_request.opened", "issue o/r#7", "pull o/r#9", `"number":"9"`},
		{"pull_request", `{"action": "closed", "pull_request": {"number": 9, "merged": true}, `, "pull_request.merged",
			"pull o/r#9", "", `"action":"closed"`},
		{"pull_request", `{"action": "closed", "pull_request": {"number": 9, "merged": false}, `, "pull_request.closed",
			"pull o/r#9", "", `"action":"closed"`},
		{"pull_request_review", `{"action": "submitted", "review": {"state": "CHANGES_REQUESTED", "body": "Tests\u0000?"}, ` +
			pull + `, `, "review.changes_requested", "pull o/r#9", "", `"review":"Tests␀?"`},
		{"check_run", `{"action": "completed", "check_run": {"name": "lint", "conclusion": "failure", "head_sha": "c0ffee",
			"output": {"summary": "3 lines"}, "pull_requests": [{"number": 9}]}, `, "check_run.failed", "pull o/r#9", "",
			`"summary":"3 lines"`},
		{"check_run", `{"action": "completed", "check_run": {"name": "lint", "conclusion": "success",
			"head_sha": "c0ffee"}, `, "check_run.succeeded", "commit o/r@c0ffee", "", `"sha":"c0ffee"`},
		{"check_run", `{"action": "completed", "check_run": {"name": "lint", "conclusion": "timed_out",
			"head_sha": "c0ffee"}, `, "check_run.timed_out", "commit o/r@c0ffee", "", `"name":"lint"`},
		{"star", `{"action": "created", `, "", "", "", ""},
	} {
		header := map[string]string{"X-GitHub-Event": c.kind, "X-GitHub-Delivery": "d\xff"}
		m, err := Map(schemas.Webhook{Kind: github, Domain: "code"}, Hook{Source: "hub", Body: []byte(c.body + about + "}"),
			Header: func(name string) string { return header[name] }}, time.Now())
		require.NoError(t, err, c.event)
		require.Equal(t, c.event == "", m.Skip != "", c.kind)
		if m.Skip != "" {
			continue
		}
		e := m.Event
		require.Equal(t, []string{c.event, c.thread, c.alias, "code", "hub", "d\uFFFD", "eve"},
			[]string{e.Type, e.Thread, m.Alias, e.Domain, e.Source, e.ID, e.Metadata["author"]})
		require.Contains(t, string(e.Payload), c.payload)
		require.True(t, e.Outside)
	}
}
