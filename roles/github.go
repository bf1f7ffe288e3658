package roles

import (
	"cmp"
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

// githubTypes are the types that come from GitHub, by what they are about. Others may come: it adds
// to them.
var githubTypes = map[string][]string{
	"issue": {"opened", "edited", "closed", "reopened", "deleted", "labeled", "unlabeled", "assigned", "unassigned",
		"locked", "unlocked", "pinned", "unpinned", "transferred", "milestoned", "demilestoned", "typed", "untyped"},
	"comment": {"created", "edited", "deleted"},
	"pull_request": {"opened", "edited", "closed", "merged", "reopened", "synchronize", "labeled", "unlabeled", "assigned",
		"unassigned", "locked", "unlocked", "review_requested", "review_request_removed", "ready_for_review",
		"converted_to_draft", "milestoned", "demilestoned", "auto_merge_enabled", "auto_merge_disabled", "enqueued",
		"dequeued"},
	"review": {"approved", "changes_requested", "commented", "edited", "dismissed"},
	"check_run": {"created", "failed", "succeeded", "rerequested", "requested_action", "neutral", "cancelled", "skipped",
		"timed_out", "action_required", "stale"},
}

// fromGitHub maps the events of issues, comments, pull requests, reviews and check runs; all
// others are skipped. Their threads are issue OWNER/REPO#N and the like; a pull request that
// closes an issue joins its thread.
func fromGitHub(kind string, body map[string]any) Mapped {
	g := gitHub{body: body, action: field(body, "action"), repo: field(body, "repository.full_name"),
		payload: map[string]any{}}
	g.take("repository", "repository.full_name", maxField)
	g.take("action", "action", maxField)
	g.take("author", "sender.login", maxField)
	switch kind {
	case "issues":
		g.issue()
	case "issue_comment":
		g.comment()
	case "pull_request":
		g.pullRequest()
	case "pull_request_review":
		g.review()
	case "check_run":
		g.checkRun()
	default:
		g.Skip = fmt.Sprintf("events of %q are not mapped", schemas.Shorten(kind, 64))
	}
	g.Event.Payload = json.RawMessage(encoded(g.payload))
	g.Event.Metadata = map[string]string{"author": field(body, "sender.login")}
	return g.Mapped
}

// gitHub is a request of GitHub on its way to an event.
type gitHub struct {
	Mapped
	body         map[string]any
	action, repo string
	payload      map[string]any
}

// take puts the field at path into the payload, if it has a value.
func (g *gitHub) take(name, path string, limit int) {
	if v := field(g.body, path); v != "" {
		g.ours = g.ours || strings.Contains(v, Marker)
		g.payload[name] = schemas.Shorten(v, limit)
	}
}

// about takes what identifies the issue or pull request at path, whose thread the event joins.
func (g *gitHub) about(thing, path string) {
	g.take("number", path+".number", maxField)
	g.take("title", path+".title", maxField)
	g.take("url", path+".html_url", maxField)
	g.take("state", path+".state", maxField)
	g.Event.Thread = threadOf(fmt.Sprintf("%s %s#%s", thing, g.repo, field(g.body, path+".number")))
}

func (g *gitHub) issue() {
	g.Event.Type = "issue." + g.action
	g.about("issue", "issue")
	g.take("body", "issue.body", maxBody)
}

func (g *gitHub) comment() {
	g.Event.Type = "comment." + g.action
	thing := "issue"
	if at, _ := g.body["issue"].(map[string]any); at["pull_request"] != nil {
		thing = "pull"
	}
	g.about(thing, "issue")
	g.take("comment", "comment.body", maxBody)
	g.take("url", "comment.html_url", maxField)
}

func (g *gitHub) pullRequest() {
	g.Event.Type = "pull_request." + g.action
	if g.action == "closed" && field(g.body, "pull_request.merged") == "true" {
		g.Event.Type = "pull_request.merged"
	}
	g.about("pull", "pull_request")
	g.take("body", "pull_request.body", maxBody)
	g.take("branch", "pull_request.head.ref", maxField)
	g.take("sha", "pull_request.head.sha", maxField)
	if found := closes.FindStringSubmatch(field(g.body, "pull_request.body")); found != nil {
		g.Alias, g.Event.Thread = g.Event.Thread, threadOf(fmt.Sprintf("issue %s#%s", g.repo, found[1]))
	}
}

func (g *gitHub) review() {
	g.Event.Type = "review." + g.action
	if state := strings.ToLower(field(g.body, "review.state")); g.action == "submitted" && state != "" {
		g.Event.Type = "review." + state
	}
	g.about("pull", "pull_request")
	g.take("review", "review.body", maxBody)
	g.take("sha", "pull_request.head.sha", maxField)
}

func (g *gitHub) checkRun() {
	g.Event.Type = "check_run." + g.action
	if c := field(g.body, "check_run.conclusion"); g.action == "completed" && c != "" {
		g.Event.Type = "check_run." + cmp.Or(map[string]string{"failure": "failed", "success": "succeeded"}[c], c)
	}
	g.take("name", "check_run.name", maxField)
	g.take("conclusion", "check_run.conclusion", maxField)
	g.take("url", "check_run.html_url", maxField)
	g.take("sha", "check_run.head_sha", maxField)
	g.take("summary", "check_run.output.summary", maxBody)
	run, _ := g.body["check_run"].(map[string]any)
	pulls, _ := run["pull_requests"].([]any)
	g.Event.Thread = threadOf(fmt.Sprintf("commit %s@%s", g.repo, field(g.body, "check_run.head_sha")))
	if len(pulls) > 0 {
		pull, _ := pulls[0].(map[string]any)
		g.payload["number"] = field(pull, "number")
		g.Event.Thread = threadOf(fmt.Sprintf("pull %s#%s", g.repo, field(pull, "number")))
	}
}
