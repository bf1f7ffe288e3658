package ops

import (
	"context"
	"slices"
)

// Visible lists the operations of the toolsets that the caller's capabilities,
// along its whole chain, name; no toolsets means all.
func (s *Service) Visible(ctx context.Context, caller Caller, toolsets []Toolset) (map[string]bool, error) {
	allowed, err := s.Auth.Tools(ctx, caller.Principal, Names())
	if err != nil {
		return nil, err
	}
	visible := map[string]bool{}
	for _, o := range Catalogue() {
		if o.among(toolsets) && allowed[o.Name] {
			visible[o.Name] = true
		}
	}
	return visible, nil
}

// Had reports whether a tool was visible to the caller when its rights were last
// looked up in this process. What it says no to may be visible by now.
func (s *Service) Had(caller Caller, toolsets []Toolset, tool string) bool {
	o := Find(tool)
	return o != nil && o.among(toolsets) && s.Auth.Had(caller.Principal, tool)
}

// among reports whether o is in one of the toolsets; nil is all of them.
func (o *Operation) among(toolsets []Toolset) bool {
	return len(toolsets) == 0 || slices.Contains(toolsets, o.Toolset)
}
