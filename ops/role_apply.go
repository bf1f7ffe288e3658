package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

// What only a person does with roles. These are commands, and no tools.

// ApplyWorkspace makes a workspace what its file says; trial only says what that changes.
func (s *Service) ApplyWorkspace(ctx context.Context, person Caller, w schemas.Workspace,
	trial bool) (p roles.Plan, err error) {
	err = s.asPerson(ctx, person, "role_apply", func(g access.Grant) error {
		p, err = s.Roles().Apply(g, w, trial)
		return err
	})
	s.WriteRoleKeys()
	if err != nil || trial {
		return p, err
	}
	for _, source := range slices.Sorted(maps.Keys(w.Webhooks)) {
		path, made, err := s.MakeHookSecret(source)
		if err != nil {
			return p, err
		}
		if fresh := (roles.Change{What: "webhook", ID: source, Does: "create"}); made && !slices.Contains(p.Changes, fresh) {
			p.Notes = append(p.Notes, fmt.Sprintf("the secret of %s was missing, so a new one was made: paste it where the "+
				"source asks for it, for what it signs with the old one is refused", source))
		}
		p.Keys = append(p.Keys, fmt.Sprintf("/hooks/%s: %s", source, path))
	}
	return p, nil
}

// ExportWorkspace gives a workspace as the file that makes it.
func (s *Service) ExportWorkspace(ctx context.Context, person Caller, workspace string) (file []byte, err error) {
	err = s.Auth.Do(ctx, person.Principal, access.Op{Tool: "role_apply", Effect: access.Read, Human: true},
		func(g access.Grant) error {
			file, err = s.Roles().Export(g, workspace)
			return err
		})
	return file, err
}

// MoveRole carries a role along an edge of its lifecycle.
func (s *Service) MoveRole(ctx context.Context, person Caller, workspace, role string, on schemas.Trigger,
	reason string) (to schemas.RoleStatus, err error) {
	err = s.asPerson(ctx, person, "role_lifecycle", func(g access.Grant) error {
		to, err = s.Roles().Move(g, workspace, role, on, reason)
		return err
	})
	return to, err
}

// TestedRole says what a role in testing would have done.
func (s *Service) TestedRole(ctx context.Context, person Caller, workspace,
	role string) (list []roles.Past, err error) {
	err = s.Auth.Do(ctx, person.Principal, access.Op{Tool: "role_apply", Effect: access.Read, Human: true},
		func(g access.Grant) error {
			list, err = s.Roles().Tested(g, workspace, role)
			return err
		})
	return list, err
}

func (s *Service) asPerson(ctx context.Context, person Caller, tool string, f func(access.Grant) error) error {
	s.Called()
	return s.Auth.Do(ctx, person.Principal, access.Op{Tool: tool, Effect: access.Destroy, Human: true}, f)
}
