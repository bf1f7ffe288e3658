package memory

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// GroupKind says who made a group and what for.
type GroupKind string

const (
	NormalGroup    GroupKind = "normal"
	SwarmGroup     GroupKind = access.GroupSwarm
	StagingGroup   GroupKind = access.GroupStaging
	WorkspaceGroup GroupKind = "workspace"
	SystemGroup    GroupKind = access.GroupSystem
)

// Values of the fields of a culture.
const (
	Chatty   = "chatty"   // the next events a member reads bring a write along
	Moderate = "moderate" // writes are announced, members fetch
	Taciturn = "taciturn" // writes are found by searching only

	Push   = "push"
	Notify = "notify"
	Silent = "silent"

	Permissive  = "permissive"  // what a member wrote stays
	Standard    = "standard"    // the author's originals leave
	Restrictive = "restrictive" // the author's items and copies leave
)

// Culture is how a group goes about its memory (seed §4.5). It is enforced
// where it applies: on writing, on delivery, on reading and on leaving.
type Culture struct {
	Broadcast    string `json:"broadcast_eagerness"`
	Notification string `json:"notification_policy"`
	Departure    string `json:"departure_policy"`
	TTL          int64  `json:"ttl_default"` // seconds; 0 = none
}

// DefaultCulture is a group's unless it says otherwise.
func DefaultCulture() Culture {
	return Culture{Broadcast: Moderate, Notification: Notify, Departure: Standard}
}

// CulturePatch changes the fields that are not nil.
type CulturePatch struct {
	Broadcast    *string
	Notification *string
	Departure    *string
	TTL          *int64
}

// apply changes c, reporting every field that is wrong.
func (p CulturePatch) apply(c *Culture) []schemas.Violation {
	check := checker{}
	set := func(field *string, to *string, path string, allowed ...string) {
		if to == nil {
			return
		}
		if !slices.Contains(allowed, *to) {
			check.add(path, "must be one of %s", strings.Join(allowed, ", "))
		}
		*field = *to
	}
	set(&c.Broadcast, p.Broadcast, "/culture/broadcast_eagerness", Chatty, Moderate, Taciturn)
	set(&c.Notification, p.Notification, "/culture/notification_policy", Push, Notify, Silent)
	set(&c.Departure, p.Departure, "/culture/departure_policy", Permissive, Standard, Restrictive)
	if p.TTL != nil {
		if *p.TTL < 0 || *p.TTL > schemas.MaxTTLSeconds {
			check.add("/culture/ttl_default", "must be from 0 to %d", schemas.MaxTTLSeconds)
		}
		c.TTL = *p.TTL
	}
	return check.found
}

// cultureOf reads the culture of a group, the default if it is gone.
func cultureOf(tx querier, id schemas.GroupID) (Culture, error) {
	c := DefaultCulture()
	var text string
	err := tx.QueryRow(selectCulture, id).Scan(&text)
	if errors.Is(err, store.ErrNoRows) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	if err != nil {
		return c, fmt.Errorf("read culture: %w", err)
	}
	return c, nil
}

var cultures access.Fact[schemas.GroupID, Culture]

// knownCulture is cultureOf, read once in an epoch.
func knownCulture(g access.Grant, id schemas.GroupID) (Culture, error) {
	return cultures.Of(g, id, func() (Culture, error) { return cultureOf(g.Tx(), id) })
}

// GroupInfo is what a member sees of a group.
type GroupInfo struct {
	ID          schemas.GroupID  `json:"id"`
	Kind        GroupKind        `json:"kind"`
	Owner       schemas.EntityID `json:"owner"`
	Role        Role             `json:"role"` // the reader's
	Description string           `json:"description,omitempty"`
	Culture     Culture          `json:"culture"`
	Emcon       bool             `json:"emcon,omitempty"` // writes are blocked
	Size        int              `json:"size"`            // members
	CreatedAt   string           `json:"created_at"`
	Members     []Member         `json:"members,omitempty"`
	Invited     []Member         `json:"invited,omitempty"` // by the reader, and not yet members
}

// Member is one member of a group.
type Member struct {
	ID       schemas.EntityID `json:"id"`
	Name     string           `json:"name"`
	Role     Role             `json:"role"`
	JoinedAt string           `json:"joined_at"`
}

// NewGroup is a group to make.
type NewGroup struct {
	ID          schemas.GroupID
	Kind        GroupKind        // "" = normal; others are the node's to make
	Owner       schemas.EntityID // "" = the actor
	Description string
	Culture     CulturePatch
}

// reservedPrefixes are of groups the node makes.
func reservedPrefixes() []string { return []string{"swarm-", "staging-", "system-", "ws-"} }

// CreateGroup makes a group and its owner a member of it. The right to write
// there is asked first: a name the actor may not use is refused alike whether
// there is such a group or not.
func CreateGroup(g access.Grant, n NewGroup) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	if n.Kind == "" {
		n.Kind = NormalGroup
	}
	if n.Owner == "" {
		n.Owner = g.Actor()
	}
	if err := schemas.CheckGroupID(string(n.ID)); err != nil {
		return err
	}
	culture, err := n.check()
	if err != nil {
		return err
	}
	if n.Owner == g.Actor() {
		if err := mayOwn(g, n.ID, n.Kind, "name"); err != nil {
			return err
		}
	}
	_, err = g.Tx().Exec(insertGroup, n.ID, n.Kind, n.Owner, n.Description, encodeCulture(culture), g.Tx().Micros())
	if store.IsUnique(err) {
		if own, err := g.ReadScope(); err == nil && slices.Contains(own.Groups, n.ID) {
			return schemas.Conflictf("you are in the group %s already", n.ID).Expecting("a name that no group has").
				Try("go on with it: %s", schemas.Tool("memory_group", "action", "read", "group", n.ID))
		}
		return schemas.Conflictf("the name %s is taken", n.ID).
			Expecting("a name that no group has").
			Try("call it again with another name, or ask a member to add you; %s shows your groups",
				schemas.Tool("memory_group", "action", "list"))
	}
	if err != nil {
		return fmt.Errorf("make group: %w", err)
	}
	if err := join(g, n.ID, n.Owner, access.RoleOwner); err != nil {
		return err
	}
	return g.Audit("group/"+string(n.ID), map[string]any{"kind": n.Kind, "owner": n.Owner, "culture": culture})
}

// check refuses a name that is the node's, and a description or culture that cannot be.
func (n NewGroup) check() (Culture, error) {
	culture := DefaultCulture()
	if n.Kind == NormalGroup {
		for _, prefix := range reservedPrefixes() {
			if strings.HasPrefix(string(n.ID), prefix) {
				return culture, schemas.Invalidf("groups beginning %s are made by the node", prefix).
					Expecting("another beginning").With(schemas.Violation{Path: "/group", Msg: "begins with " + prefix})
			}
		}
	}
	if found := append(n.Culture.apply(&culture), checkDescription(n.Description)...); len(found) > 0 {
		return culture, schemas.Invalidf("the group was not made").With(found...)
	}
	return culture, nil
}

// checkDescription lists what is wrong with the description of a group.
func checkDescription(text string) []schemas.Violation {
	if len(text) <= maxLine {
		return nil
	}
	return []schemas.Violation{{Path: "/description", Msg: fmt.Sprintf("is longer than %d bytes", maxLine)}}
}

// mayOwn refuses unless the actor may own a group of that id, which argument names in the call.
func mayOwn(g access.Grant, id schemas.GroupID, kind GroupKind, argument string) error {
	may, err := g.MayOwn(id, string(kind))
	if err != nil || may {
		return err
	}
	return schemas.Deniedf("this agent may not write groups named %s", id).
		Try("choose a %s its capabilities match (%s shows them), or ask the parent", argument,
			schemas.Tool("agent_list", "agent", access.RefOf(g.Tx(), g.Actor())))
}

func encodeCulture(c Culture) string {
	b, err := json.Marshal(c)
	if err != nil { // strings and a number
		panic(fmt.Sprintf("memory: encode culture: %v", err))
	}
	return string(b)
}

// ListGroups lists the groups the actor is in; for a person those of their tree.
func ListGroups(g access.Grant) ([]GroupInfo, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectGroups, g.Actor(), store.List(scope.Groups))
	groups, err := store.Collect(rows, err, func(r *sql.Rows) (i GroupInfo, err error) {
		var culture, root string
		var created int64
		if err := r.Scan(&i.ID, &i.Kind, &i.Owner, &i.Description, &culture, &i.Emcon, &created, &i.Role, &root,
			&i.Size); err != nil {
			return i, err
		}
		if g.IsHuman() && root == string(g.Actor()) {
			i.Role = access.RoleOwner
		}
		i.CreatedAt, i.Culture = events.Timestamp(created), DefaultCulture()
		return i, json.Unmarshal([]byte(culture), &i.Culture)
	})
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	return groups, nil
}

// ReadGroup shows one group with its members.
func ReadGroup(g access.Grant, id schemas.GroupID) (GroupInfo, error) {
	groups, err := ListGroups(g)
	if err != nil {
		return GroupInfo{}, err
	}
	i := slices.IndexFunc(groups, func(i GroupInfo) bool { return i.ID == id })
	if i < 0 {
		return GroupInfo{}, NoGroup(g, id)
	}
	info := groups[i]
	rows, err := g.Tx().Query(selectMembers, id)
	info.Members, err = store.Collect(rows, err, func(r *sql.Rows) (m Member, err error) {
		var joined int64
		err = r.Scan(&m.ID, &m.Name, &m.Role, &joined)
		m.JoinedAt = events.Timestamp(joined)
		return m, err
	})
	if err != nil {
		return GroupInfo{}, fmt.Errorf("read members: %w", err)
	}
	invited, err := invitationsOf(g.Tx(), selectInvited, g.Actor(), id, oldest(g))
	for _, i := range invited {
		info.Invited = append(info.Invited, Member{ID: i.Invited, Name: i.InvitedName, Role: i.Role,
			JoinedAt: events.Timestamp(i.At)})
	}
	return info, err
}

// GroupPatch changes the fields that are not nil.
type GroupPatch struct {
	Description *string
	Culture     CulturePatch
	Emcon       *bool
}

// UpdateGroup changes how a group works. It is for its owner and admins; while
// EMCON is on, only EMCON itself can be changed.
func UpdateGroup(g access.Grant, id schemas.GroupID, p GroupPatch) (GroupInfo, error) {
	info, err := ReadGroup(g, id)
	if err != nil {
		return GroupInfo{}, err
	}
	if err := mayManage(g, info, p.Emcon != nil); err != nil {
		return GroupInfo{}, err
	}
	found := p.Culture.apply(&info.Culture)
	if p.Description != nil {
		info.Description = *p.Description
		found = append(found, checkDescription(info.Description)...)
	}
	if len(found) > 0 {
		return GroupInfo{}, schemas.Invalidf("the group was not changed").With(found...)
	}
	if p.Emcon != nil {
		info.Emcon = *p.Emcon
	}
	if _, err := g.Tx().Exec(updateGroup, info.Description, encodeCulture(info.Culture), info.Emcon, id); err != nil {
		return GroupInfo{}, fmt.Errorf("change group: %w", err)
	}
	if err := g.RightsChanged(); err != nil { // EMCON takes the right to write
		return GroupInfo{}, err
	}
	return info, g.Audit("group/"+string(id), map[string]any{"culture": info.Culture, "emcon": info.Emcon})
}

// mayManage refuses unless the actor may change the group or its members.
func mayManage(g access.Grant, info GroupInfo, despiteEmcon bool) error {
	if info.Kind == StagingGroup || info.Kind == SystemGroup {
		return schemas.Deniedf("%s is managed by the node",
			info.ID).Try("%s shows your groups and your role in each", schemas.Tool("memory_group", "action", "list"))
	}
	if !manages(info.Role) {
		return schemas.Deniedf("only the owner and admins of %s may do this", info.ID).Try("ask %s, its owner",
			info.Owner)
	}
	if info.Emcon && despiteEmcon {
		return nil // what blocks writing must not block its own end
	}
	return mayWrite(g, schemas.Group, "", info.ID)
}
