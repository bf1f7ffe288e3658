package roles

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// Spawn asks for a child of a role from a template.
type Spawn struct {
	Parent   string            `json:"parent"`
	Template string            `json:"template"`
	Params   map[string]string `json:"params"`
}

// Spawned is a child that was made or, if Ask is set, waits for the owner's approval.
type Spawned struct {
	RoleID    string
	Agent     schemas.EntityID
	Clamped   []string // what of the template was taken back
	Inherited int      // insights it was given
	Ask       string
}

// Limits of a template's parameters: they end in a prompt. Bytes.
const maxParam = 60

// plainWords reports whether a parameter begins with a letter or digit and holds nothing but these
// and the marks that names have.
func plainWords(v string) bool {
	for at, r := range v {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && (at == 0 || !strings.ContainsRune(" .,&+/_-", r)) {
			return false
		}
	}
	return v != ""
}

// Spawn makes a child of a role, which is the actor or stands below it. Errors: CodeDenied
// for a role that the template does not name, CodeInvalid for wrong parameters, CodeConflict
// for a name that is taken and a workspace that is full.
func (r *Roles) Spawn(g access.Grant, workspace string, s Spawn) (Spawned, error) {
	w, err := r.worldOf(g, workspace, s.Parent)
	if err != nil {
		return Spawned{}, err
	}
	if s.Parent == "" {
		s.Parent = string(g.Actor())
	}
	parent := w.Of(s.Parent)
	if parent == nil {
		return Spawned{}, schemas.Invalidf("no role is named that spawns").
			Expecting("parent: a role of the workspace, if you are none").Try("repeat the call with parent")
	}
	if above, err := g.Holds(parent.Agent); err != nil {
		return Spawned{}, err
	} else if !above {
		return Spawned{}, schemas.Deniedf("only %s itself, or who stands above it, spawns for it", parent.RoleID).
			Try("send it an event of type %s instead", directiveSpawn)
	}
	child, clamped, err := w.child(parent, s)
	if err != nil {
		return Spawned{}, err
	}
	out := Spawned{RoleID: child.RoleID, Clamped: clamped}
	if w.Workspace.Policy.SpawnRequiresApproval && !g.IsHuman() {
		a, err := Ask{Workspace: w.Workspace.Workspace, Kind: schemas.AskSpawn, Agent: parent.Agent,
			Asked: w.Workspace.Owner, Title: fmt.Sprintf("%s asks to spawn %s", parent.RoleID, child.RoleID),
			Shows: append([]string{"asked for by " + g.NameOf(g.Actor())}, s.shows(child, clamped)...),
			data:  encoded(s), Then: schemas.ThenRefuse}.open(g, defaultWithin)
		out.Ask = a.ID
		return out, err
	}
	return r.make(g, w, parent, s, child, out)
}

// shows are the lines that show what a spawn makes.
func (s Spawn) shows(child schemas.Role, clamped []string) []string {
	return append([]string{"template " + s.Template + " with " + encoded(s.Params), "soul: " + oneLine(child.Soul),
		"authority: " + encoded(child.Authority)}, clamped...)
}

// child gives the charter of a child, with its parameters filled in and checked against the
// workspace's policy.
func (w *World) child(parent *Member, s Spawn) (schemas.Role, []string, error) {
	t, ok := w.Workspace.RoleTemplates[s.Template]
	known := slices.Sorted(maps.Keys(w.Workspace.RoleTemplates))
	if !ok {
		return schemas.Role{}, nil, schemas.NotFoundf("there is no template %q here%s", schemas.Shorten(s.Template, 64),
			schemas.DidYouMean(s.Template, known)).Expecting("one of %s", strings.Join(known, ", ")).
			Try("the owner writes it under role_templates: cordelia role apply FILE; or a role drafts one")
	}
	if !slices.Contains(t.AllowedSpawners, parent.RoleID) {
		return schemas.Role{}, nil, schemas.Deniedf("%s may not use the template %s", parent.RoleID, s.Template).
			Expecting("one of its allowed_spawners: %s", strings.Join(t.AllowedSpawners, ", ")).
			Try("the owner adds it to allowed_spawners of the template: cordelia role apply FILE")
	}
	if parent.State != schemas.RoleActive {
		return schemas.Role{}, nil, schemas.Conflictf("%s is %s, and only an active role spawns", parent.RoleID,
			parent.State).Try("the owner activates it: cordelia role resume %s", parent.RoleID)
	}
	if err := checkParams(t.Parameters, s.Params); err != nil {
		return schemas.Role{}, nil, err
	}
	if n := len(w.Members); n >= maxRoles(w.Workspace.Policy) {
		return schemas.Role{}, nil, schemas.Conflictf("the workspace has %d roles, as many as its policy allows", n).
			Try("the owner raises policy.max_roles, or ends roles: cordelia role terminate ROLE")
	}
	child, clamped := Clamp(t, parent.Role, w.Workspace.Policy)
	child.Soul = fillParams(t.SoulTemplate, inSoul(s.Params))
	if child.RoleID = slug(fillParams(t.NamePattern, s.Params)); !roleName.MatchString(child.RoleID) {
		return child, clamped, schemas.Invalidf("the parameters make no usable name of %q", t.NamePattern).
			Expecting("letters or digits of ASCII in them")
	}
	if w.byID[child.RoleID] != nil {
		return child, clamped, schemas.Conflictf("there is a role %s already", child.RoleID).
			Try("choose other parameters")
	}
	if len(child.Soul) > maxSoul {
		return child, clamped, schemas.Invalidf("the soul would have %d bytes", len(child.Soul)).
			Expecting("at most %d", maxSoul).Try("give shorter parameters")
	}
	return child, clamped, nil
}

// checkParams demands each parameter once, short and plain: it ends in a prompt.
func checkParams(known []string, given map[string]string) error {
	var bad []schemas.Violation
	say := func(name, format string, args ...any) {
		bad = append(bad, schemas.Violation{Path: schemas.Pointer("params", name), Msg: fmt.Sprintf(format, args...)})
	}
	for _, name := range known {
		switch v, ok := given[name]; {
		case !ok:
			say(name, "is missing")
		case len(v) > maxParam || !plainWords(v):
			say(name, "must be 1–%d bytes of letters, digits and . , & + / _ -", maxParam)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			say(name, "is no parameter of this template%s", schemas.DidYouMean(name, known))
		}
	}
	if bad != nil {
		return schemas.Invalidf("the role was not made").With(bad...).Try("correct the params and call again")
	}
	return nil
}

// inSoul gives parameters as they stand in a soul: one of several words in quotes, so that it
// reads as a name and not as a sentence of the prompt.
func inSoul(params map[string]string) map[string]string {
	out := map[string]string{}
	for name, v := range params {
		if out[name] = v; strings.ContainsRune(v, ' ') {
			out[name] = `"` + v + `"`
		}
	}
	return out
}

func fillParams(pattern string, params map[string]string) string {
	return hole.ReplaceAllStringFunc(pattern, func(h string) string { return params[strings.Trim(h, "{}")] })
}

// slug is a name of a-z 0-9 -.
func slug(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(schemas.Shorten(b.String(), 200), "-")
}

// make registers the child, with no more than its parent's rights, and gives it what it
// inherits.
func (r *Roles) make(g access.Grant, w *World, parent *Member, s Spawn, child schemas.Role,
	out Spawned) (Spawned, error) {
	chain, err := g.ChainOf(parent.Agent)
	if err != nil {
		return out, err
	}
	for _, action := range child.Authority.Autonomous { // what the parent lost it does not win back by a child
		hundredths, err := w.trust(g, parent, action)
		if err != nil {
			return out, err
		}
		trustLess(&child, action, float64(hundredths)/100, parent.RoleID,
			func(format string, args ...any) { out.Clamped = append(out.Clamped, fmt.Sprintf(format, args...)) })
	}
	depth := depthBelow(chain)
	lives := child // its agent ends with the parent's at the latest
	if end := chain[len(chain)-1].ExpiresAt; end > 0 &&
		(ttlSeconds(child.TTL) == 0 || g.Tx().Micros()+ttlSeconds(child.TTL)*1_000_000 > end) {
		lives.TTL = (time.Duration(end-g.Tx().Micros()) * time.Microsecond).Truncate(time.Second).String()
		if child.TTL != ttlTask {
			child.TTL = lives.TTL
		}
	}
	spawner := mayUse(w.Workspace, child.RoleID) && depth > 0
	display := fillParams(w.Workspace.RoleTemplates[s.Template].NamePattern, s.Params)
	record, err := r.enroll(g, w.Workspace, parent.Agent, lives, display, spawner, depth)
	if err != nil {
		return out, err
	}
	out.Agent = record.ID
	if err := r.insert(g, &Member{Role: child, Agent: record.ID, Parent: parent.Agent, Template: s.Template},
		w.Workspace, schemas.RoleActive); err != nil {
		return out, err
	}
	words := slices.Collect(maps.Values(s.Params))
	slices.Sort(words)
	err = g.AsNode(func(g access.Grant) error {
		out.Inherited, err = memory.Inherit(g, parent.Agent, record.ID, append(words, child.Domains...))
		return err
	})
	if err != nil {
		return out, err
	}
	return out, g.Audit("role/"+string(record.ID), map[string]any{"parent": parent.RoleID, "template": s.Template,
		"clamped": out.Clamped, "inherited": out.Inherited})
}

// spawnApproved makes a child that waited for the owner.
func (r *Roles) spawnApproved(g access.Grant, w *World, a Ask) (string, error) {
	var s Spawn
	if err := json.Unmarshal([]byte(a.data), &s); err != nil {
		return "", fmt.Errorf("read what was asked: %w", err)
	}
	parent := w.byAgent[a.Agent]
	if parent == nil {
		return "", schemas.Conflictf("the role that asked has ended").Try("reject this")
	}
	child, clamped, err := w.child(parent, s)
	if err != nil {
		return "", err
	}
	for _, line := range s.shows(child, clamped) {
		if !slices.Contains(a.Shows, line) {
			return "", schemas.Conflictf("the file changed since %s asked: it would make another role than is shown here",
				parent.RoleID).Try("reject this; the role may ask again")
		}
	}
	out, err := r.make(g, w, parent, s, child, Spawned{RoleID: child.RoleID, Clamped: clamped})
	return "role " + out.RoleID + " is made", err
}

// leaveMemory does with the memory of a role that ends what its policy says.
func (r *Roles) leaveMemory(g access.Grant, w *World, role schemas.Role, agent, parent schemas.EntityID) error {
	if above := w.Of(role.ReportsTo); parent == "" && above != nil {
		parent = above.Agent // of a role of the file
	}
	if role.MemoryPolicy != schemas.MergeToParent || w.byAgent[parent] == nil {
		return nil // archived, as every agent's; what is to be deleted goes when the agent is removed
	}
	insights, err := memory.InsightsOf(g, agent, nil)
	if err != nil || len(insights) == 0 {
		return err
	}
	a := Ask{Workspace: w.Workspace.Workspace, Kind: schemas.AskInsights, Agent: agent, Asked: parent,
		Title: fmt.Sprintf("%s ended and leaves %s to %s", role.RoleID,
			schemas.Count(len(insights), "insight", "insights"), w.byAgent[parent].RoleID)}
	ids := make([]schemas.ItemID, len(insights))
	for i, in := range insights {
		ids[i] = in.ID
		a.Shows = append(a.Shows, oneLine(in.Text))
		a.Outside = a.Outside || in.SecondHand
	}
	a.data = encoded(bequest{Parent: parent, Items: ids})
	_, err = a.open(g, mergeWithin)
	return err
}

// mergeWithin is how long what a role left waits for its parent.
const mergeWithin = 30 * 24 * time.Hour

// Removed does what belongs to the end of a removed agent's grace period: the memory of a role
// that is to be deleted goes, its archive too. The node calls it.
func Removed(g access.Grant, agent schemas.EntityID) error {
	var charter string
	err := g.Tx().QueryRow(selectCharter, agent).Scan(&charter)
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	var role schemas.Role
	if err == nil {
		err = unmarshal(charter, &role)
	}
	if err != nil || role.MemoryPolicy != schemas.DeleteMemory {
		return err
	}
	return g.AsNode(func(g access.Grant) error {
		n, err := memory.PurgeOwned(g, agent)
		if err != nil {
			return err
		}
		return g.Audit("role/"+string(agent), map[string]any{"purged": n})
	})
}

// bequest is what a role that ended leaves to its parent.
type bequest struct {
	Parent schemas.EntityID `json:"parent"`
	Items  []schemas.ItemID `json:"items"`
}

// insightsApproved gives a parent what its child knew.
func insightsApproved(g access.Grant, a Ask) (string, error) {
	var b bequest
	if err := json.Unmarshal([]byte(a.data), &b); err != nil {
		return "", fmt.Errorf("read what was asked: %w", err)
	}
	n := 0
	err := g.AsNode(func(g access.Grant) (err error) {
		n, err = memory.Bequeath(g, b.Items, b.Parent, 1000, "merged")
		return err
	})
	if errors.Is(err, schemas.ErrNotFound) {
		return "", schemas.Conflictf("the insights are gone").Try("reject this")
	}
	return schemas.Count(n, "insight is", "insights are") + " merged", err
}
