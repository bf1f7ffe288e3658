package review

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/work"
)

// invitationPage lists invitations of the actor's agents to others' groups.
func invitationPage(g access.Grant, after string, limit int,
	tainted bool) (entries []Entry, last string, more bool, err error) {
	if len(g.Via()) > 0 {
		return nil, "", false, nil // a review is decided in person
	}
	list, more, err := memory.Invitations(g, after, limit)
	for _, i := range list {
		e, err := invitationEntry(g, i, tainted)
		if err != nil {
			return nil, "", false, err
		}
		entries, last = append(entries, e), i.ID
	}
	return entries, last, more, err
}

// invitationEntry shows an invitation: ids, names and enums.
func invitationEntry(g access.Grant, i memory.Invitation, tainted bool) (Entry, error) {
	e := Entry{ID: i.ID, Kind: ToGroup, Name: fmt.Sprintf("%s into %s as %s", i.InvitedName, i.Group, i.Role),
		State:  i.State,
		Author: i.InviterName, AuthorID: i.Inviter, Group: i.Group, Hash: hex.EncodeToString(invitationHash(i)),
		At: events.Timestamp(i.At)}
	var err error
	e.Person, err = personForSession(g, tainted)
	return e, err
}

// invitationHash stands for all that an approval agrees to.
func invitationHash(i memory.Invitation) []byte {
	h := sha256.New()
	for _, field := range []string{"cordelia/v1/invitation", i.ID, string(i.Group), string(i.Invited), string(i.Role),
		string(i.Inviter)} {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(field)))) //nolint:errcheck // never fails
		h.Write([]byte(field))                                          //nolint:errcheck // never fails
	}
	return h.Sum(nil)
}

func showInvitation(g access.Grant, id string, tainted bool) (Entry, error) {
	i, err := invitationInPerson(g, id)
	if err != nil {
		return Entry{}, err
	}
	return invitationEntry(g, i, tainted)
}

// invitationInPerson reads an invitation that the actor decides for itself.
func invitationInPerson(g access.Grant, id string) (memory.Invitation, error) {
	i, err := memory.ReadInvitation(g, id)
	if err == nil && len(g.Via()) > 0 {
		err = inPersonOnly()
	}
	return i, err
}

func invitationState(g access.Grant, id string) (schemas.ReviewState, error) {
	i, err := memory.ReadInvitation(g, id)
	return i.State, err
}

// decideInvitation makes the invited agent a member, with what it takes to reach the group
// as far as the actor has it, or declines.
func decideInvitation(g access.Grant, d Decision, tainted bool) (Decided, row, error) {
	out := Decided{ID: d.ID, State: string(schemas.ReviewRejected)}
	i, err := invitationInPerson(g, d.ID)
	if err != nil {
		return Decided{}, row{}, err
	}
	if !d.Approve {
		return out, row{}, i.Decline(g)
	}
	if d.Hash == "" {
		return Decided{}, row{}, work.Hashless(i.ID)
	}
	shown, err := hex.DecodeString(d.Hash)
	if err != nil || subtle.ConstantTimeCompare(shown, invitationHash(i)) != 1 {
		return Decided{}, row{}, work.OtherContent(i.ID)
	}
	reason, err := personForSession(g, tainted)
	if err != nil {
		return Decided{}, row{}, err
	}
	if reason != "" {
		return Decided{}, row{}, schemas.Deniedf("%s",
			reason).Try("reject it, or ask the user to look: cordelia review").Because(schemas.ErrPerson)
	}
	if err := i.Accept(g); err != nil {
		return Decided{}, row{}, err
	}
	out.State = string(schemas.ReviewApproved)
	out.Note, err = agents.LetReach(g, i.Invited, i.Group, i.Role)
	return out, row{}, err
}
