package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Human is a person to create.
type Human struct {
	ID          schemas.EntityID
	DisplayName string
	Key         keys.Recipient // KeySeq 1
}

// CreateHuman enters a person; for the node's set-up alone.
func CreateHuman(g access.Grant, h Human) error {
	if !g.IsNode() {
		return schemas.Deniedf("only the node's set-up creates people")
	}
	if err := schemas.CheckHumanID(string(h.ID)); err != nil {
		return err
	}
	r := Record{ID: h.ID, DisplayName: h.DisplayName, Name: string(h.ID), Key: h.Key, Status: schemas.Active}
	if err := insert(g, r, h.ID, 0); err != nil {
		return err
	}
	return g.Audit(string(h.ID), map[string]any{"kind": "human"})
}

// SoleHuman is the node's person. Errors: CodeNotFound before set-up.
func SoleHuman(g access.Grant) (schemas.EntityID, error) { return InspectHuman(g.Tx()) }

// InspectHuman is SoleHuman without a grant, for checks of the file.
func InspectHuman(tx *store.Tx) (schemas.EntityID, error) {
	var id schemas.EntityID
	err := tx.QueryRow(soleHuman).Scan(&id)
	if errors.Is(err, store.ErrNoRows) {
		return "", schemas.NotFoundf("this node has no user yet").Try("run: cordelia setup")
	}
	if err != nil {
		return "", fmt.Errorf("read the node's user: %w", err)
	}
	return id, nil
}

// namesLike lists the names below parent that are name, or name and a suffix.
func namesLike(tx *store.Tx, parent schemas.EntityID, name string) ([]string, error) {
	rows, err := tx.Query(selectNames, parent, name)
	taken, err := store.Collect(rows, err, scanString)
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return taken, nil
}

// InspectChild reports whether an agent of that name stands directly below parent, in
// use or not.
func InspectChild(tx *store.Tx, parent schemas.EntityID, name string) (bool, error) {
	taken, err := namesLike(tx, parent, name)
	return slices.Contains(taken, name), err
}

// Registration is an agent to create.
type Registration struct {
	Type         schemas.AgentType
	DisplayName  string
	Name         string // "" = made from the display name
	Capabilities access.Declared
	Grants       schemas.Grants
	// Key and Seal: the agent's public half, and how to seal its private half to
	// the parent; Seal is nil when the agent keeps its key to itself.
	Key  keys.Recipient
	Seal func(parent keys.Recipient) ([]byte, error)
	// NodeID is the node an agent belongs to that was imported by its record; such
	// an agent starts at tier Low.
	NodeID string
}

// Register creates an agent under the actor, or under a descendant of it, as the actor could by
// acting as that agent (INV-LEAST). Errors: CodeDenied with every capability that exceeds an
// ancestor's, CodeConflict for a taken name or a key that was registered before, CodeNotFound for
// any other parent.
func Register(g access.Grant, under schemas.EntityID, in Registration) (Record, error) {
	tx := g.Tx()
	if above, err := g.Holds(under); err != nil || !above {
		return Record{}, cmp.Or(err, access.NotKnown(string(under)))
	}
	parent, err := load(tx, under)
	if err != nil {
		return Record{}, err
	}
	chain, err := g.ChainOf(under)
	if err != nil {
		return Record{}, err
	}
	caps := in.Capabilities.Resolve(in.Type, chain, tx.Micros())
	if err := access.CheckRegistration(caps, chain); err != nil {
		return Record{}, err
	}
	r := Record{
		ID: schemas.AgentIDFromKey(in.Key.PublicKey), Parent: parent.ID, Type: in.Type,
		DisplayName: in.DisplayName, Key: in.Key, Status: schemas.Registered,
		CreatedAt: tx.Micros(), ExpiresAt: access.ExpiresAt(tx.Micros(), caps.TTLSeconds),
		Capabilities: caps, Grants: in.Grants, NodeID: in.NodeID,
	}
	if err := checkGrants(r, nil); err != nil {
		return Record{}, err
	}
	var known int
	if err := tx.QueryRow(countEntity, r.ID).Scan(&known); err != nil {
		return Record{}, fmt.Errorf("read entity: %w", err)
	}
	if known > 0 {
		return Record{}, schemas.Conflictf("this key was registered before, and a key is registered once").
			Try("make a new key and %s again", schemas.Do("agent_register"))
	}
	if r.Name, r.Namesake, err = pickName(tx, r, in.Name); err != nil {
		return Record{}, err
	}
	if in.Seal != nil {
		if r.SealedKey, err = in.Seal(parent.Key); err != nil {
			return Record{}, fmt.Errorf("seal the agent's key: %w", err)
		}
	}
	if err := insert(g, r, g.Root(), len(chain)); err != nil {
		return Record{}, err
	}
	return r, g.Audit(string(r.ID), map[string]any{"name": r.Name, "type": r.Type, "capabilities": caps,
		"grants": r.Grants, "parent": r.Parent})
}

func insert(g access.Grant, r Record, root schemas.EntityID, depth int) error {
	caps, err := json.Marshal(r.Capabilities)
	if err != nil {
		return err
	}
	grants, err := json.Marshal(r.Grants)
	if err != nil {
		return err
	}
	kind := "agent"
	var parent, agentType any
	if r.Type == "" {
		kind = "human"
	} else {
		parent, agentType = r.Parent, r.Type
	}
	now := g.Tx().Micros()
	if _, err := g.Tx().Exec(insertEntity, r.ID, kind, parent, root, depth, agentType, r.Name, r.DisplayName,
		r.Key.PublicKey, r.Key.EncPublicKey, r.Key.Binding, r.SealedKey, string(caps), string(grants),
		r.Status, g.Actor(), now, now, r.ExpiresAt, r.NodeID); err != nil {
		if store.IsUnique(err) {
			return schemas.Conflictf("%q is already registered here", r.Name).Try("choose another name").Because(err)
		}
		return fmt.Errorf("insert entity: %w", err)
	}
	if _, err := g.Tx().Exec(insertKey, r.ID, 1, r.Key.PublicKey, r.Key.EncPublicKey, r.Key.Binding, now, "registered",
		nil); err != nil {
		return fmt.Errorf("insert key: %w", err)
	}
	return g.RightsChanged() // who is above has one more below
}

// checkGrants checks the explicit grants against the agent's capabilities, which
// lie inside what the parent has to give. joins is how a group and the rights for it are
// given at once, nil where only the capabilities can be widened.
func checkGrants(r Record, joins func(group string) schemas.Call) error {
	var bad []schemas.Violation
	var outside []string // groups that the capabilities lack
	read, write := map[string]any{}, map[string]any{}
	for _, list := range []struct {
		path   string
		groups []string
	}{{"/groups", r.Grants.Groups}, {"/bonus_groups", r.Grants.BonusGroups}} {
		for _, group := range list.groups {
			if err := schemas.CheckGroupID(group); err != nil {
				bad = append(bad, schemas.Violation{Path: list.path, Msg: fmt.Sprintf("%q is not a group id", group)})
			} else if !access.MatchesGroup(r.Capabilities.MemoryRead.Groups, schemas.GroupID(group), "") &&
				!access.MatchesGroup(r.Capabilities.MemoryWrite.Groups, schemas.GroupID(group), "") {
				bad = append(bad, schemas.Violation{Path: list.path,
					Msg: fmt.Sprintf("%s is in neither memory_read.groups nor memory_write.groups", group)})
				outside = append(outside, group)
			}
		}
	}
	if len(outside) > 0 {
		slices.Sort(outside)
		outside = slices.Compact(outside)
		read["groups"] = slices.Concat(r.Capabilities.MemoryRead.Groups, outside)
		write["groups"] = slices.Concat(r.Capabilities.MemoryWrite.Groups, outside)
	}
	need := func(private schemas.PrivateGrant, scope schemas.MemoryScope, what string, wider map[string]any) {
		if r.Grants.Private == private && !slices.Contains(scope.Visibility, schemas.Private) {
			bad = append(bad, schemas.Violation{Path: "/private",
				Msg: fmt.Sprintf("%s needs %q among %s.visibility", private, schemas.Private, what)})
			wider["visibility"] = append([]schemas.Visibility{schemas.Private}, scope.Visibility...)
		}
	}
	need(schemas.ReadPrivate, r.Capabilities.MemoryRead, "memory_read", read)
	need(schemas.WritePrivate, r.Capabilities.MemoryRead, "memory_read", read)
	need(schemas.WritePrivate, r.Capabilities.MemoryWrite, "memory_write", write)
	if len(bad) == 0 {
		return nil
	}
	joining := slices.IndexFunc(outside, func(group string) bool { return slices.Contains(r.Grants.Groups, group) })
	refusal := schemas.Invalidf("the grants do not fit the capabilities").With(bad...).
		Expecting("groups and private access that the capabilities allow")
	if joins != nil && joining >= 0 {
		return refusal.Try("to let it into the group, with the rights for it: %s", joins(outside[joining]))
	}
	wider := map[string]any{}
	for name, fields := range map[string]map[string]any{"memory_read": read, "memory_write": write} {
		if len(fields) > 0 {
			wider[name] = fields
		}
	}
	if len(wider) == 0 {
		return refusal
	}
	text, err := json.Marshal(wider)
	if err != nil {
		return err
	}
	return refusal.Try("drop the grant, or give in the same call, too: capabilities %s", text)
}

// pickName checks a wanted name, or makes one: the display name as a slug, with
// a number when it is taken or promised; namesake is then the name without it.
func pickName(tx *store.Tx, r Record, wanted string, promised ...string) (name, namesake string, err error) {
	base := wanted
	if base == "" {
		if base = slug(r.DisplayName); base == "" {
			base = string(r.Type)
		}
	} else if wanted != slug(wanted) || schemas.IsAgentID(wanted) {
		usable := slug(wanted)
		if usable == "" || schemas.IsAgentID(usable) {
			usable = string(r.Type)
		}
		return "", "", schemas.Invalidf("the name %q cannot be used", wanted).
			Expecting("1–40 characters of a-z 0-9 -, starting with a letter").Try("call again with name %q", usable)
	}
	if misleads, err := misleading(tx, base); err != nil {
		return "", "", err
	} else if misleads && wanted != "" {
		return "", "", schemas.Invalidf("the name %q would pass for a person or the node", wanted).
			Expecting("a name that no person has, and none of %s", strings.Join(misleadingNames, ", ")).
			Try("call again with name %q", slug(wanted+"-agent"))
	} else if misleads {
		base = slug(base + "-agent")
	}
	taken, err := namesLike(tx, r.Parent, base)
	if err != nil {
		return "", "", err
	}
	if wanted != "" && slices.Contains(taken, base) {
		return "", "", nameTaken(tx, r.Parent, wanted)
	}
	if name = freeName(base, append(taken, promised...)); name != base {
		namesake = base
	}
	return name, namesake, nil
}

// freeName is base, with a number when it is taken.
func freeName(base string, taken []string) string {
	name := base
	for n := 2; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// NamesFor gives the names that agents of these display names would get, registered below the actor
// one after the other.
func NamesFor(g access.Grant, displayNames []string) ([]string, error) {
	names := make([]string, len(displayNames))
	for i, displayed := range displayNames {
		name, _, err := pickName(g.Tx(), Record{Parent: g.Actor(), DisplayName: displayed}, "", names[:i]...)
		if err != nil {
			return nil, err
		}
		names[i] = name
	}
	return names, nil
}

// misleadingNames are names that readers take for a person or the node.
var misleadingNames = []string{"node", "system", "cordelia", "user", "human", "person", "owner", "you"}

// misleading reports whether readers would take an agent of that name for a person or the node.
func misleading(tx *store.Tx, name string) (misleads bool, err error) {
	if slices.Contains(misleadingNames, name) {
		return true, nil
	}
	if err := tx.QueryRow(selectPersonNamed, name).Scan(&misleads); err != nil {
		return false, fmt.Errorf("look for a person of that name: %w", err)
	}
	return misleads, nil
}

// nameTaken refuses a name that is in use. One that has ended keeps its name while it
// can be taken up again.
func nameTaken(tx *store.Tx, parent schemas.EntityID, name string) error {
	var id schemas.EntityID
	var status schemas.AgentStatus
	if err := tx.QueryRow(selectNamed, parent, name).Scan(&id, &status); err != nil {
		return fmt.Errorf("read who has the name: %w", err)
	}
	if status != schemas.Deactivated {
		return schemas.Conflictf("you already have an agent named %q", name).
			Expecting("a name that is free").Try("go on with it: %s; for one more, choose another name",
			schemas.Tool("agent_list", "agent", access.RefOf(tx, id)))
	}
	return schemas.Conflictf("you already have an agent named %q, which is deactivated", name).
		Try("%s to take it up again, or choose another name",
			schemas.Do("agent_lifecycle", "action", "reactivate", "agent", access.RefOf(tx, id)))
}

// slug reduces s to what a short name may be.
func slug(s string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9' && b.Len() > 0:
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
