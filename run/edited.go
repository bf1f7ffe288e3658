package run

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"cordelia/schemas"
)

// testFile is how files of tests and checks are called, and those that say what a command of
// theirs runs.
var testFile = regexp.MustCompile(`(?i)(^|/)(tests?|spec|__tests__)/|(_test|_spec|\.test|\.spec)\.[a-z]+$|` +
	`(^|/)test_[^/]*$|(^|/)(test|check|verify)[a-z_-]*\.[a-z]+$|` +
	`(^|/)(gnu)?makefile$|(^|/)(package\.json|conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|` +
	`cargo\.toml|justfile|taskfile\.ya?ml|[a-z]+\.config\.[cm]?[jt]s)$`)

// edited lists the files of tests and of how they are run that the judged work added, changed or
// removed: a judge looks at those first.
func (s *seat) edited(ctx context.Context, commit string) ([]string, error) {
	var in struct {
		Criteria []schemas.Criterion `json:"criteria"`
	}
	if err := json.Unmarshal(s.claimed.Brief.Inputs, &in); err != nil {
		return nil, fmt.Errorf("read the brief: %w", err)
	}
	return s.editedBy(ctx, commit, in.Criteria)
}

// editedBy lists those files of a commit, if some criterion has a command.
func (s *seat) editedBy(ctx context.Context, commit string, criteria []schemas.Criterion) ([]string, error) {
	if commit == "" {
		return nil, nil
	}
	files, err := s.Repo.Changed(ctx, commit)
	if err != nil {
		return nil, err
	}
	return checking(files, criteria), nil
}

// checking are those of the files that are tests, if some criterion has a command, which may
// rest on any of them.
func checking(files []string, criteria []schemas.Criterion) (list []string) {
	if !slices.ContainsFunc(criteria, func(c schemas.Criterion) bool { return c.Command != "" }) {
		return nil
	}
	for _, f := range files {
		if testFile.MatchString(f) && len(list) < maxEdited {
			list = append(list, schemas.Shorten(f, 200))
		}
	}
	return list
}

// maxEdited is how many such files the brief of a judge names.
const maxEdited = 20
