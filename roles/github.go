package roles

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"cordelia/schemas"
)

// closes finds the issue that a pull request says it closes.
var closes = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s*:?\s+#(\d{1,9})\b`)

// Bounds of texts of GitHub in a payload, in bytes.
const (
	maxBody  = 4000
	maxField = 300
)

// fromGitHub maps the events of issues, comments, pull requests, reviews and check runs; all
// others are skipped. Their threads are issue OWNER/REPO#N and the like; a pull request that
// closes an issue joins its thread.
func fromGitHub(kind string, body map[string]any) (m Mapped) {
	action, repo := field(body, "action"), field(body, "repository.full_name")
	p := map[string]any{}
	take := func(name, path string, limit int) {
		if v := field(body, path); v != "" {
			m.ours = m.ours || strings.Contains(v, Marker)
			p[name] = schemas.Shorten(v, limit)
		}
	}
	take("repository", "repository.full_name", maxField)
	take("action", "action", maxField)
	take("author", "sender.login", maxField)
	number := ""
	about := func(thing, at string) {
		take("number", at+".number", maxField)
		take("title", at+".title", maxField)
		take("url", at+".html_url", maxField)
		take("state", at+".state", maxField)
		number = field(body, at+".number")
		m.Event.Thread = threadOf(fmt.Sprintf("%s %s#%s", thing, repo, number))
	}
	switch kind {
	case "issues":
		m.Event.Type = "issue." + action
		about("issue", "issue")
		take("body", "issue.body", maxBody)
	case "issue_comment":
		m.Event.Type = "comment." + action
		thing := "issue"
		if at, _ := body["issue"].(map[string]any); at["pull_request"] != nil {
			thing = "pull"
		}
		about(thing, "issue")
		take("comment", "comment.body", maxBody)
		take("url", "comment.html_url", maxField)
	case "pull_request":
		m.Event.Type = "pull_request." + action
		if action == "closed" && field(body, "pull_request.merged") == "true" {
			m.Event.Type = "pull_request.merged"
		}
		about("pull", "pull_request")
		take("body", "pull_request.body", maxBody)
		take("branch", "pull_request.head.ref", maxField)
		take("sha", "pull_request.head.sha", maxField)
		if found := closes.FindStringSubmatch(field(body, "pull_request.body")); found != nil {
			m.Alias, m.Event.Thread = m.Event.Thread, threadOf(fmt.Sprintf("issue %s#%s", repo, found[1]))
		}
	case "pull_request_review":
		m.Event.Type = "review." + action
		if state := strings.ToLower(field(body, "review.state")); action == "submitted" && state != "" {
			m.Event.Type = "review." + state
		}
		about("pull", "pull_request")
		take("review", "review.body", maxBody)
		take("sha", "pull_request.head.sha", maxField)
	case "check_run":
		m.Event.Type = "check_run." + action
		if c := field(body, "check_run.conclusion"); action == "completed" && c != "" {
			m.Event.Type = "check_run." + map[string]string{"failure": "failed", "success": "succeeded"}[c]
			if m.Event.Type == "check_run." {
				m.Event.Type += c
			}
		}
		take("name", "check_run.name", maxField)
		take("conclusion", "check_run.conclusion", maxField)
		take("url", "check_run.html_url", maxField)
		take("sha", "check_run.head_sha", maxField)
		take("summary", "check_run.output.summary", maxBody)
		run, _ := body["check_run"].(map[string]any)
		pulls, _ := run["pull_requests"].([]any)
		m.Event.Thread = threadOf(fmt.Sprintf("commit %s@%s", repo, field(body, "check_run.head_sha")))
		if len(pulls) > 0 {
			pull, _ := pulls[0].(map[string]any)
			p["number"] = field(pull, "number")
			m.Event.Thread = threadOf(fmt.Sprintf("pull %s#%s", repo, field(pull, "number")))
		}
	default:
		m.Skip = fmt.Sprintf("events of %q are not mapped", schemas.Shorten(kind, 64))
	}
	m.Event.Payload = json.RawMessage(encoded(p))
	m.Event.Metadata = map[string]string{"author": field(body, "sender.login")}
	return m
}
