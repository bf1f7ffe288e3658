package ops

import (
	"context"
	"slices"

	"cordelia/access"
	"cordelia/roles"
	"cordelia/schemas"
)

// Visible lists the operations of the toolsets that the caller's capabilities,
// along its whole chain, name; no toolsets means all, but roles only where there are some.
func (s *Service) Visible(ctx context.Context, caller Caller, toolsets []Toolset) (map[string]bool, error) {
	allowed, err := s.Auth.Tools(ctx, caller.Principal, Names())
	if err != nil {
		return nil, err
	}
	visible := map[string]bool{}
	offered := len(toolsets) > 0
	if !offered && allowed[roleList.Name] {
		if offered, err = s.hasRoles(ctx, caller); err != nil {
			return nil, err
		}
	}
	for _, o := range Catalogue() {
		if o.Among(toolsets) && allowed[o.Name] && (offered || o.Toolset != Roles) {
			visible[o.Name] = true
		}
	}
	return visible, nil
}

// hasRoles reports whether the caller has a workspace.
func (s *Service) hasRoles(ctx context.Context, caller Caller) (has bool, err error) {
	err = s.Auth.Do(ctx, caller.Principal, access.Op{Tool: roleList.Name, Effect: access.Read},
		func(g access.Grant) (err error) {
			has, err = roles.Any(g)
			return err
		})
	if code := schemas.CodeOf(err); err != nil && code != schemas.CodeInternal && code != schemas.CodeUnavailable {
		return false, nil // one that may do nothing now has no use for them either
	}
	return has, err
}

// Had reports whether a tool was visible to the caller when its rights were last
// looked up in this process. What it says no to may be visible by now.
func (s *Service) Had(caller Caller, toolsets []Toolset, tool string) bool {
	o := Find(tool)
	return o != nil && o.Among(toolsets) && s.Auth.Had(caller.Principal, tool)
}

// Among reports whether the operation is in one of the toolsets; nil is all of them.
func (s Spec) Among(toolsets []Toolset) bool {
	return len(toolsets) == 0 || slices.Contains(toolsets, s.Toolset)
}
