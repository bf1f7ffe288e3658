package clientsettings

import (
	"path/filepath"
	"slices"
	"strings"
)

// Rule is the permission rule of Claude Code that lets it call the plugin's tools without
// asking: those of the server cordelia of the plugin cordelia. Without it a session at a
// terminal asks, and one without a terminal refuses.
const Rule = "mcp__plugin_" + Name + "_" + Name + "__*"

// covering are the rules that allow at least what Rule does.
func covering() []string {
	return []string{Rule, strings.TrimSuffix(Rule, "__*"), "mcp__*"}
}

const (
	permissionsKey = "permissions"
	allowKey       = "allow"
)

// Permissions is the client with the settings file that holds its permission rules, where
// Connect adds Rule and Disconnect takes it out; ok is false for a client that has none.
func (c Client) Permissions() (p Client, ok bool) {
	if c.Plugin == "" {
		return c, false
	}
	c.Settings, c.format = filepath.Join(filepath.Dir(filepath.Dir(c.Plugin)), "settings.json"), permissionFormat{}
	return c, true
}

// permissionFormat is a settings file with a list "allow" in an object "permissions".
type permissionFormat struct{}

// rulePlace is where our rule is, or would go; -1 for what is missing.
type rulePlace struct {
	root, permissions, allow     jsonNode
	permissionsAt, allowAt, rule int
}

func (permissionFormat) locate(src []byte) (p rulePlace, err error) {
	p.permissionsAt, p.allowAt, p.rule = -1, -1, -1
	if p.root, err = parseJSON(src, false); err != nil {
		return p, err
	}
	if p.root.kind != '{' {
		return p, malformed(src, p.root.start, "an object was expected")
	}
	if p.permissionsAt = p.root.member(permissionsKey); p.permissionsAt < 0 {
		return p, nil
	}
	if p.permissions = p.root.members[p.permissionsAt].value; p.permissions.kind != '{' {
		return p, malformed(src, p.permissions.start, permissionsKey+" should be an object")
	}
	if p.allowAt = p.permissions.member(allowKey); p.allowAt < 0 {
		return p, nil
	}
	if p.allow = p.permissions.members[p.allowAt].value; p.allow.kind != '[' {
		return p, malformed(src, p.allow.start, permissionsKey+"."+allowKey+" should be a list")
	}
	p.rule = slices.IndexFunc(p.allow.elements, func(n jsonNode) bool { return n.kind == '"' && n.text == Rule })
	return p, nil
}

// find reports a rule that covers ours as present, and our own as ours.
func (f permissionFormat) find(src []byte) (Found, error) {
	if blank(src) {
		return Found{}, nil
	}
	p, err := f.locate(src)
	if err != nil {
		return Found{}, err
	}
	covered := slices.ContainsFunc(p.allow.elements, func(n jsonNode) bool {
		return n.kind == '"' && slices.Contains(covering(), n.text)
	})
	return Found{Present: covered, Ours: p.rule >= 0}, nil
}

func (f permissionFormat) connect(src []byte, _ Entry, _ bool) ([]byte, error) {
	if blank(src) {
		return []byte(render(map[string]any{permissionsKey: map[string]any{allowKey: []string{Rule}}}, "", "  ", "\n") +
			"\n"), nil
	}
	found, err := f.find(src)
	if err != nil || found.Present {
		return src, err
	}
	p, err := f.locate(src)
	if err != nil {
		return nil, err
	}
	s := styleOf(src, p.root)
	switch {
	case p.permissionsAt < 0:
		return s.insert(src, p.root, 0, permissionsKey, map[string]any{allowKey: []string{Rule}}), nil
	case p.allowAt < 0:
		return s.insert(src, p.permissions, 1, allowKey, []string{Rule}), nil
	}
	rule := render(Rule, "", "", "")
	if n := len(p.allow.elements); n > 0 { // laid out as the one before it
		last := p.allow.elements[n-1]
		return edit(src, cut{last.end, last.end, "," + leadOf(src, last.start) + rule}), nil
	}
	return edit(src, cut{p.allow.start, p.allow.end, "[" + rule + "]"}), nil
}

func (f permissionFormat) disconnect(src []byte, _ bool) ([]byte, error) { return f.disallow(src, nil) }

// disallow takes our rule out, and the list and the object that connect made to hold it:
// those that before, if it is known, does not have.
func (f permissionFormat) disallow(src, before []byte) ([]byte, error) {
	if blank(src) {
		return src, nil
	}
	p, err := f.locate(src)
	if err != nil || p.rule < 0 {
		return src, err
	}
	had := rulePlace{permissionsAt: 0, allowAt: 0}
	if before != nil {
		if had, err = f.locate(before); err != nil {
			return nil, err
		}
	}
	alone := len(p.allow.elements) == 1
	switch {
	case alone && had.permissionsAt < 0 && len(p.permissions.members) == 1:
		return remove(src, p.root, p.permissionsAt), nil
	case alone && had.allowAt < 0:
		return remove(src, p.permissions, p.allowAt), nil
	case alone:
		return edit(src, cut{p.allow.start, p.allow.end, "[]"}), nil
	}
	rule := p.allow.elements[p.rule]
	if p.rule > 0 {
		return edit(src, cut{p.allow.elements[p.rule-1].end, rule.end, ""}), nil
	}
	return edit(src, cut{rule.start, p.allow.elements[1].start, ""}), nil
}
