package demo

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"cordelia/internal/drive"
	"cordelia/roles"
	"cordelia/schemas"
)

// Roles is the story of the workspaces that come with the program: a triager, a fixer of failed
// checks, and a reviewer who asks a person.
func Roles() Story {
	return Story{parts: []part{
		{"apply", "Three workspaces are applied", (*stage).applyWorkspaces},
		{"triage", "An issue is opened, and sorted", (*stage).triageIssue},
		{"guard", "Forged, repeated and looping requests lead to nothing", (*stage).guardHooks},
		{"fix", "A check fails, and a task begins", (*stage).fixCheck},
		{"review", "A pull request is reviewed, and you are asked", (*stage).reviewPull},
		{"spawn", "The reviewer gets a child, with less", (*stage).spawnReviewer},
		{"test", "A role in testing says what it would do", (*stage).tryRole},
	}}
}

// ownerOf opens the lead's session, which makes the identities, and gives the person's id, as
// the files that the program prints have it.
func (s *stage) ownerOf(ctx context.Context) (owner string, err error) {
	if s.lead, err = s.node.Open(ctx, ""); err != nil {
		return "", err
	}
	out, stderr, code, err := s.node.Run(ctx, "role", "example", "triager")
	if err != nil || code != 0 {
		return "", fmt.Errorf("cordelia role example ends with %d: %s: %w", code, stderr, err)
	}
	for line := range strings.Lines(out) {
		if id, ok := strings.CutPrefix(line, "owner: "); ok {
			owner = strings.TrimSpace(id)
		}
	}
	return owner, nil
}

// applyWorkspaces applies what comes with the program.
func (s *stage) applyWorkspaces(ctx context.Context) error {
	owner, err := s.ownerOf(ctx)
	if err != nil {
		return err
	}
	s.secrets = map[string]string{}
	made := 0
	for _, name := range roles.Shipped() {
		text, err := roles.Example(name, schemas.EntityID(owner))
		if err != nil {
			return err
		}
		file := filepath.Join(s.Folder, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		var plan roles.Plan
		if _, err := s.command(ctx, &plan, 0, "role", "apply", file); err != nil {
			return err
		}
		for _, k := range plan.Keys {
			source, path, _ := strings.Cut(strings.TrimPrefix(k, "/hooks/"), ": ")
			secret, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s.secrets[source] = strings.TrimSpace(string(secret))
		}
		for _, c := range plan.Changes {
			if c.What == "role" {
				made++
				s.prove("cordelia role apply "+name+".yaml", "%s: role %s is made", plan.Workspace, c.ID)
			}
		}
		var again roles.Plan
		if _, err := s.command(ctx, &again, 0, "role", "apply", file); err != nil {
			return err
		}
		if err := check(len(again.Changes) == 0, "a file applied twice changes nothing"); err != nil {
			return err
		}
	}
	if s.address, err = s.node.Serve(ctx); err != nil {
		return err
	}
	s.step.Facts = object{"workspaces": len(roles.Shipped()), "roles": made}
	s.step.Shown = fmt.Sprintf("%d workspaces, %d roles; applied twice, once", len(roles.Shipped()), made)
	return check(made == 3, "three roles are made; there are %d", made)
}

// hook sends a request as GitHub would, signed with secret.
func (s *stage) hook(ctx context.Context, source, kind, delivery, body, secret string) (status int, says string,
	err error) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return drive.PostBytes(ctx, s.address+"/hooks/"+source, []byte(body), map[string]string{"X-GitHub-Event": kind,
		"X-GitHub-Delivery": delivery, "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))})
}

// taken sends a request that has to be taken.
func (s *stage) taken(ctx context.Context, source, kind, delivery, body string) error {
	status, says, err := s.hook(ctx, source, kind, delivery, body, s.secrets[source])
	if err != nil {
		return err
	}
	return check(status == http.StatusAccepted && strings.Contains(says, `"taken"`), "%s is taken: %d %s", kind, status,
		says)
}

const issueOpened = `{"action":"opened","issue":{"number":7,"title":"It hangs on start","body":"Since 2.1.",
	"html_url":"u"},"repository":{"full_name":"you/harbour"},"sender":{"login":"eve"}}`

// acts does the next work of a role, and gives its intent.
func (s *stage) acts(ctx context.Context, role string, result object) (string, error) {
	c, err := s.node.Open(ctx, role)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // its process ends with the story
	w, err := claim(ctx, c, object{})
	if err == nil {
		err = check(w != nil, "there is work for %s", role)
	}
	if err != nil {
		return "", err
	}
	goal := false
	for _, line := range w.Brief.Constraints {
		goal = goal || strings.HasPrefix(line, "you are the role "+role)
	}
	if err := check(goal, "its charter is in its brief: %v", w.Brief.Constraints); err != nil {
		return "", err
	}
	return w.Intent, call(ctx, c, "task_report", w.done(result), nil)
}

func (s *stage) triageIssue(ctx context.Context) error {
	if err := s.taken(ctx, "triage-github", "issues", "d-1", issueOpened); err != nil {
		return err
	}
	s.prove("POST /hooks/triage-github, signed", "GitHub tells of issue 7")
	intent, err := s.acts(ctx, "triager", object{"labels": []string{"bug"}})
	if err != nil {
		return err
	}
	s.prove(intent, "the triager's agent claims it, does it and reports")
	s.step.Facts, s.step.Shown = object{"intent": intent}, "issue 7 became work, and is done"
	return check(strings.Contains(intent, `"It hangs on start"`), "the work names the issue: %s", intent)
}

func (s *stage) guardHooks(ctx context.Context) error {
	secret := s.secrets["triage-github"]
	forged, says, err := s.hook(ctx, "triage-github", "issues", "d-2", strings.Replace(issueOpened, "7", "8", 1), "guess")
	if err != nil {
		return err
	}
	unknown, other, err := s.hook(ctx, "nobody", "issues", "d-2", issueOpened, secret)
	if err != nil {
		return err
	}
	if err := check(forged == http.StatusUnauthorized && unknown == forged && says == other,
		"a forged request answers as an unknown source: %d %s, %d %s", forged, says, unknown, other); err != nil {
		return err
	}
	s.prove(fmt.Sprint(forged), "a request signed with another secret is not read")
	again, says, err := s.hook(ctx, "triage-github", "issues", "d-3", issueOpened, secret)
	if err == nil {
		err = check(again == http.StatusOK && strings.Contains(says, "repeated"), "a body counts once: %d %s", again, says)
	}
	if err != nil {
		return err
	}
	s.prove(says, "the same body under another delivery id is a repetition")
	ours := strings.Replace(issueOpened, "Since 2.1.", "<!-- "+roles.Marker+" -->", 1)
	if err := s.taken(ctx, "triage-github", "issues", "d-4", ours); err != nil {
		return err
	}
	var shown struct {
		Role roles.Detail `json:"role"`
	}
	if _, err := s.command(ctx, &shown, 0, "role", "show", "triager"); err != nil {
		return err
	}
	s.say("what bears our own mark is known as an effect of ours")
	s.step.Facts = object{"forged": forged, "repeated": again, "delegated": shown.Role.Today}
	s.step.Shown = fmt.Sprintf("%d delegation, of four requests", shown.Role.Today)
	return check(shown.Role.Today == 1, "one request led to work; %d did", shown.Role.Today)
}

func (s *stage) fixCheck(ctx context.Context) error {
	body := `{"action":"completed","check_run":{"name":"unit tests","conclusion":"failure","head_sha":"abc123",
		"pull_requests":[]},"repository":{"full_name":"you/harbour"},"sender":{"login":"ci"}}`
	if err := s.taken(ctx, "fixer-github", "check_run", "d-5", body); err != nil {
		return err
	}
	var out struct {
		Tasks []struct {
			TaskID string `json:"task_id"`
			Intent string `json:"intent"`
			State  string `json:"state"`
		} `json:"tasks"`
	}
	if _, err := s.command(ctx, &out, 0, "task", "list"); err != nil {
		return err
	}
	s.step.Facts = object{"tasks": len(out.Tasks)}
	if err := check(len(out.Tasks) == 1 && out.Tasks[0].State == "perceiving",
		"a failed check began one task, which goes on: %+v", out.Tasks); err != nil {
		return err
	}
	s.prove("task "+short(out.Tasks[0].TaskID)+" is "+out.Tasks[0].State,
		"it will be planned, done and judged by others, and held for you")
	s.step.Shown = "a failed check became a task of the pipeline"
	return nil
}

func (s *stage) reviewPull(ctx context.Context) error {
	body := `{"action":"opened","pull_request":{"number":9,"title":"Retry with jitter","body":"Closes #7","head":{"sha":"abc"}},
		"repository":{"full_name":"you/harbour"},"sender":{"login":"eve"}}`
	if err := s.taken(ctx, "review-github", "pull_request", "d-6", body); err != nil {
		return err
	}
	intent, err := s.acts(ctx, "reviewer", object{"findings": []string{"retry.go:12: no bound"}})
	if err != nil {
		return err
	}
	s.prove(intent, "the reviewer looks at it")
	if _, err := s.command(ctx, nil, 0, "role", "event", "review.approve_asked", "--workspace", "reviews", "--domain",
		"pulls", "--payload", `{"number": 9, "repository": "you/harbour", "title": "Retry with jitter"}`); err != nil {
		return err
	}
	var list struct {
		Waiting []struct{ ID, Hash, Name string }
	}
	if _, err := s.command(ctx, &list, 0, "review", "list"); err != nil {
		return err
	}
	if err := check(len(list.Waiting) == 1, "one thing waits for you: %+v", list.Waiting); err != nil {
		return err
	}
	s.prove(list.Waiting[0].Name, "to approve it is not the reviewer's to do: you are asked")
	if _, err := s.command(ctx, nil, 0, "role", "approve", list.Waiting[0].ID, list.Waiting[0].Hash); err != nil {
		return err
	}
	intent, err = s.acts(ctx, "reviewer", object{"approved": true})
	if err != nil {
		return err
	}
	s.prove(intent, "approved by you, it is done")
	s.step.Facts, s.step.Shown = object{"approved": intent}, "reviewed alone, approved after you were asked"
	return nil
}

func (s *stage) spawnReviewer(ctx context.Context) error {
	var out struct {
		Role    string   `json:"role"`
		Clamped []string `json:"clamped"`
		AgentID string   `json:"agent_id"`
	}
	if _, err := s.command(ctx, &out, 0, "role", "spawn", "specialist", "--workspace", "reviews", "--parent", "reviewer",
		"--params", `{"language": "Go"}`); err != nil {
		return err
	}
	var shown struct {
		Role roles.Detail `json:"role"`
	}
	if _, err := s.command(ctx, &shown, 0, "role", "show", out.Role); err != nil {
		return err
	}
	forbidden := strings.Join(shown.Role.Authority.Forbidden, ", ")
	s.prove("forbidden: "+forbidden, "%s is made: what its parent may not do, or its template forbids, it may not",
		out.Role)
	s.step.Facts, s.step.Shown = object{"role": out.Role}, out.Role+" is a child of reviewer, with less"
	return check(out.AgentID != "" && strings.Contains(forbidden, "approve_pull") &&
		strings.Contains(forbidden, "pull_request.merged"), "a child has less than its parent: %s", forbidden)
}

func (s *stage) tryRole(ctx context.Context) error {
	if _, err := s.command(ctx, nil, 0, "role", "test", "triager"); err != nil {
		return err
	}
	if err := s.taken(ctx, "triage-github", "issues", "d-7", strings.Replace(issueOpened, "7", "11", 1)); err != nil {
		return err
	}
	var report []roles.Past
	if _, err := s.command(ctx, &report, 0, "role", "testing-report", "triager"); err != nil {
		return err
	}
	if err := check(len(report) == 1 && report[0].Would != "", "the report says what it would do: %+v",
		report); err != nil {
		return err
	}
	s.prove("would: "+report[0].Would, "nothing followed, and the report says what would have")
	s.step.Facts, s.step.Shown = object{"would": report[0].Would}, "decided, recorded, not done"
	return nil
}
