package memory

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Bounds of invitations.
const (
	invitationLasts = 14 * 24 * time.Hour // then it is gone; a declined one may be repeated
	maxInvitations  = 20                  // that wait at once, of one inviter
)

// Invitation is a membership that waits for the consent of the invited agent's parent or
// of the person. All of it is ids, names and enums.
type Invitation struct {
	ID          string
	Group       schemas.GroupID
	Invited     schemas.EntityID
	InvitedName string
	Role        Role
	Inviter     schemas.EntityID
	InviterName string
	State       schemas.ReviewState
	At          int64 // UTC microseconds
}

func scanInvitation[R interface{ Scan(...any) error }](r R) (i Invitation, err error) {
	return i, r.Scan(&i.ID, &i.Group, &i.Invited, &i.InvitedName, &i.Role, &i.Inviter, &i.InviterName, &i.State, &i.At)
}

func invitationsOf(tx *store.Tx, query string, args ...any) ([]Invitation, error) {
	rows, err := tx.Query(query, args...)
	list, err := store.Collect(rows, err, scanInvitation[*sql.Rows])
	if err != nil {
		return nil, fmt.Errorf("read invitations: %w", err)
	}
	return list, nil
}

// oldest is the time at which an invitation must have been made to be good still.
func oldest(g access.Grant) int64 { return g.Tx().Micros() - invitationLasts.Microseconds() }

// consents reports whether the actor may make an entity a member without asking by INV-CONSENT:
// the entity itself or one below the actor, one whose parent set a standing consent for the
// actor, or any entity if the node acts.
func consents(g access.Grant, id schemas.EntityID) (bool, error) {
	if g.IsNode() {
		return true, nil
	}
	above, err := g.Holds(id)
	if err != nil || above {
		return above, err
	}
	p, err := g.Profile(id)
	return err == nil && slices.Contains(p.Grants.AcceptFrom, g.Actor()), err
}

// admit makes an entity a member that the actor may make one.
func admit(g access.Grant, id schemas.GroupID, member schemas.EntityID, role Role) error {
	if ok, err := consents(g, member); err != nil {
		return err
	} else if !ok {
		return schemas.Deniedf("the agent is not below you, so it is invited, not added").
			Try("%s invites it; its parent accepts with %s", schemas.Tool("memory_group", "action", "add",
				"group", id, "entity", member, "role", role), schemas.Other("review_decide"))
	}
	return join(g, id, member, role)
}

// invite asks for the consent to a membership; the same invitation again is the one that waits.
// The deciders get one event for all that one inviter sends them.
func invite(g access.Grant, group schemas.GroupID, invited schemas.EntityID, role Role) (string, error) {
	tx := g.Tx()
	if err := g.AsNode(ExpireInvitations); err != nil {
		return "", err
	}
	open, err := invitationsOf(tx, selectOpenFor, group, invited)
	if err != nil {
		return "", err
	}
	for _, i := range open {
		if i.Role == role && i.Inviter == g.Actor() {
			return i.ID, nil
		}
		if i.Inviter != g.Actor() {
			return "", schemas.Conflictf("another admin of %s invited this agent already",
				group).Try("wait until its parent decides")
		}
	}
	if err := notDeclined(g, group, invited); err != nil {
		return "", err
	}
	var announced, waiting int
	if err := tx.QueryRow(countAnnounced, g.Actor(), oldest(g), invited).Scan(&announced); err != nil {
		return "", fmt.Errorf("read invitations: %w", err)
	}
	for _, i := range open { // asked for another role
		if err := i.move(g, schemas.ReviewWithdraw, g.Actor()); err != nil {
			return "", err
		}
	}
	if err := tx.QueryRow(countInvitations, g.Actor()).Scan(&waiting); err != nil {
		return "", fmt.Errorf("count invitations: %w", err)
	}
	if waiting >= maxInvitations {
		var oldest Invitation
		if err := tx.QueryRow(selectOwnInvite, g.Actor()).Scan(&oldest.Group, &oldest.Invited); err != nil {
			return "", fmt.Errorf("read invitations: %w", err)
		}
		return "", schemas.Conflictf("%d invitations of yours wait for an answer", waiting).Expecting("at most %d",
			maxInvitations).
			Try("take one back, or wait; the oldest: %s", schemas.Tool("memory_group", "action", "remove",
				"group", oldest.Group, "entity", oldest.Invited))
	}
	i := Invitation{ID: schemas.NewID(), Group: group, Invited: invited, Role: role, Inviter: g.Actor(),
		State: schemas.ReviewPending}
	if _, err := tx.Exec(insertInvitation, i.ID, group, invited, role, i.Inviter, tx.Micros()); err != nil {
		return "", fmt.Errorf("write invitation: %w", err)
	}
	if announced == 0 {
		if err := i.announce(g); err != nil {
			return "", err
		}
	}
	return i.ID, i.audit(g)
}

// notDeclined refuses an invitation like one that was declined lately.
func notDeclined(g access.Grant, group schemas.GroupID, invited schemas.EntityID) error {
	var declined int64
	if err := g.Tx().QueryRow(selectDeclined, group, invited, g.Actor(), oldest(g)).Scan(&declined); err != nil {
		return fmt.Errorf("read invitations: %w", err)
	}
	if declined == 0 {
		return nil
	}
	again := time.UnixMicro(declined).Add(invitationLasts).UTC().Format(time.DateOnly)
	return schemas.Conflictf("your invitation to %s was declined", group).Try("invite again after %s", again)
}

// announce tells those who decide. The event names no group: its name is the inviter's words.
func (i Invitation) announce(g access.Grant) error {
	chain, err := g.ChainOf(i.Invited)
	if err != nil || len(chain) == 0 {
		return err
	}
	deciders := []schemas.EntityID{chain[0].ID}
	if parent := len(chain) - 2; parent > 0 {
		deciders = append(deciders, chain[parent].ID)
	}
	for _, id := range deciders {
		if err := g.Emit(events.EntityStream(id), schemas.EventGroupInvitation, i.event()); err != nil {
			return err
		}
	}
	return nil
}

func (i Invitation) event() schemas.GroupInvitation {
	return schemas.GroupInvitation{InvitationID: i.ID, EntityID: i.Invited, InviterID: i.Inviter, State: i.State}
}

func (i Invitation) audit(g access.Grant) error {
	return g.Audit("group/"+string(i.Group), map[string]any{"invitation": i.ID, "invited": i.Invited, "role": i.Role,
		"inviter": i.Inviter, "state": i.State})
}

// move carries the invitation along an edge of schemas.ReviewEdges, and tells the inviter
// what others decided.
func (i Invitation) move(g access.Grant, on schemas.Trigger, by schemas.EntityID) error {
	to, ok := schemas.NextReview(i.State, on, access.InReview(by, i.Inviter))
	if ok {
		n, err := g.Tx().Exec(updateInvitation, to, by, g.Tx().Micros(), i.ID)
		if err != nil {
			return fmt.Errorf("decide invitation: %w", err)
		}
		ok = n == 1
	}
	if !ok {
		return schemas.Conflictf("invitation %s is %s already", i.ID, i.State).
			Try("%s shows what waits", schemas.Tool("review_list"))
	}
	i.State = to
	if i.Inviter != by { // from the node: who decides above a stranger is not the inviter's to know
		if err := g.AsNode(func(node access.Grant) error {
			return node.Emit(events.EntityStream(i.Inviter), schemas.EventGroupInvitation, i.event())
		}); err != nil {
			return err
		}
	}
	return i.audit(g)
}

// Invitations lists what waits for the actor's decision, after the id given, and whether
// there is more.
func Invitations(g access.Grant, after string, limit int) (list []Invitation, more bool, err error) {
	if g.Tx() == nil {
		return nil, false, access.ErrNoGrant
	}
	list, err = invitationsOf(g.Tx(), selectInvitations, g.Actor(), g.IsHuman(), oldest(g), after, limit+1)
	if len(list) > limit {
		return list[:limit], true, err
	}
	return list, false, err
}

// ReadInvitation gives an invitation that the actor decides, or decided. CodeNotFound if it
// is another's, too old, or not there.
func ReadInvitation(g access.Grant, id string) (Invitation, error) {
	none := schemas.NotFoundf("nothing waits for you under %q",
		oneLine(id, 80)).Expecting("the id of something that waits").
		Try("%s shows what waits", schemas.Tool("review_list"))
	if g.Tx() == nil {
		return Invitation{}, access.ErrNoGrant
	}
	i, err := scanInvitation(g.Tx().QueryRow(selectInvitation, id))
	if errors.Is(err, store.ErrNoRows) {
		return i, none
	}
	if err != nil {
		return i, fmt.Errorf("read invitation: %w", err)
	}
	above, err := g.Holds(i.Invited)
	if err != nil {
		return i, err
	}
	if !above || i.Invited == g.Actor() && !g.IsHuman() || i.State == schemas.ReviewPending && i.At <= oldest(g) {
		return i, none
	}
	return i, nil
}

// Accept makes the invited agent a member, if its inviter could still make one: the actor
// may decide it, and needs no right to the group.
func (i Invitation) Accept(g access.Grant) error {
	if err := i.stillHolds(g); err != nil {
		return err
	}
	if err := i.move(g, schemas.ReviewApprove, g.Actor()); err != nil {
		return err
	}
	if err := admit(g, i.Group, i.Invited, i.Role); err != nil {
		return err
	}
	return g.Audit("group/"+string(i.Group), map[string]any{"member": i.Invited, "role": i.Role})
}

// Decline ends the invitation.
func (i Invitation) Decline(g access.Grant) error { return i.move(g, schemas.ReviewReject, g.Actor()) }

// stillHolds refuses an invitation whose inviter has lost the right to make it, or whose
// group takes no members now.
func (i Invitation) stillHolds(g access.Grant) error {
	gone := schemas.Conflictf("this invitation is no longer good: its inviter or its group has changed").
		Try("reject it, or ask %s to invite again", i.InviterName)
	var role, held Role
	if err := g.Tx().QueryRow(selectMember, i.Group, i.Inviter).Scan(&role); err != nil &&
		!errors.Is(err, store.ErrNoRows) {
		return fmt.Errorf("read member: %w", err)
	}
	if i.Inviter == g.Root() { // a person manages every group of their tree
		role = access.RoleOwner
	}
	if err := g.Tx().QueryRow(selectMember, i.Group, i.Invited).Scan(&held); err != nil &&
		!errors.Is(err, store.ErrNoRows) {
		return fmt.Errorf("read member: %w", err)
	}
	if !manages(role) || manages(i.Role) && role != access.RoleOwner || held != "" {
		return gone
	}
	var closed, living bool
	if err := g.Tx().QueryRow(selectGroupClosed, i.Group).Scan(&closed); err != nil {
		return fmt.Errorf("read group: %w", err)
	}
	if err := g.Tx().QueryRow(selectLiving, i.Invited).Scan(&living); err != nil {
		return fmt.Errorf("read entity: %w", err)
	}
	could, err := g.Could(i.Inviter, []string{"memory_group"}, need(access.KindWrite, schemas.Group, "", i.Group))
	if err != nil {
		return err
	}
	if closed || !living || !could {
		return gone
	}
	return nil
}

// withdrawInvitation takes back the actor's invitation of an entity to a group; false if it
// has none there.
func withdrawInvitation(g access.Grant, group schemas.GroupID, invited schemas.EntityID) (bool, error) {
	open, err := invitationsOf(g.Tx(), selectOpenFor, group, invited)
	if err != nil || len(open) == 0 || open[0].Inviter != g.Actor() {
		return false, err
	}
	return true, open[0].move(g, schemas.ReviewWithdraw, g.Actor())
}

// InvitationsDue reports whether ExpireInvitations has something to do.
func InvitationsDue(g access.Grant) (due bool, err error) {
	if err = g.Tx().QueryRow(countOldInvites, oldest(g)).Scan(&due); err != nil {
		err = fmt.Errorf("count invitations: %w", err)
	}
	return due, err
}

// ExpireInvitations ends those that were not decided in time.
func ExpireInvitations(g access.Grant) error {
	late, err := invitationsOf(g.Tx(), selectOldInvites, oldest(g))
	if err != nil {
		return err
	}
	for _, i := range late {
		if err := i.move(g, schemas.ReviewExpire, access.NodeEntity); err != nil {
			return err
		}
	}
	return nil
}
