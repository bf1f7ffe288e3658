package memory

const (
	invitationColumns = `i.id, i.group_id, i.entity_id, e.name, i.role, i.inviter, b.name, i.state, i.at`
	fromInvitations   = ` FROM invitations i JOIN entities e ON e.id = i.entity_id JOIN entities b ON b.id = i.inviter`

	// selectInvitations lists what waits since after ?3 for the actor ?1 to decide, a person
	// if ?2: it is above the invited agent, or the invited person itself.
	selectInvitations = `WITH RECURSIVE down(id) AS (SELECT e.id FROM entities e WHERE e.parent_id = ?1
			UNION SELECT e.id FROM down JOIN entities e ON e.parent_id = down.id)
		SELECT ` + invitationColumns + fromInvitations + `
		WHERE i.state = 'pending' AND i.at > ?3 AND i.id > ?4 AND (i.entity_id IN (SELECT id FROM down) OR (?2
		AND i.entity_id = ?1))
		ORDER BY i.id LIMIT ?5`
	selectInvitation = `SELECT ` + invitationColumns + fromInvitations + ` WHERE i.id = ?`
	// selectInvited lists whom ?1 invited to the group ?2 and who has not been decided about.
	selectInvited = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.inviter = ?1 AND i.group_id = ?2 AND i.state = 'pending' AND i.at > ?3 ORDER BY i.id`
	selectOpenFor = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.group_id = ? AND i.entity_id = ? AND i.state = 'pending'`
	selectDeclined = `SELECT coalesce(max(decided_at), 0) FROM invitations WHERE group_id = ? AND entity_id = ?
		AND inviter = ? AND state = 'rejected' AND decided_at > ?`
	countInvitations = `SELECT count(*) FROM invitations WHERE inviter = ? AND state = 'pending'`
	insertInvitation = `INSERT INTO invitations(id, group_id, entity_id, role, inviter, state, at)
		VALUES (?, ?, ?, ?, ?, 'pending', ?)`
	updateInvitation = `UPDATE invitations SET state = ?, decided_by = ?, decided_at = ?
		WHERE id = ? AND state = 'pending'`
	selectOldInvites = `SELECT ` + invitationColumns + fromInvitations +
		` WHERE i.state = 'pending' AND i.at <= ? ORDER BY i.at LIMIT 100`
	countOldInvites   = `SELECT count(*) FROM invitations WHERE state = 'pending' AND at <= ?`
	selectGroupClosed = `SELECT emcon <> 0 OR archived_at <> 0 FROM groups WHERE id = ?`
	// countAnnounced counts what ?1 invited since ?2 of agents below the same parent as ?3 and
	// was not decided yet: its deciders got an event.
	countAnnounced = `SELECT count(*) FROM invitations i JOIN entities e ON e.id = i.entity_id
		WHERE i.inviter = ?1 AND i.at > ?2 AND i.state IN ('pending', 'withdrawn', 'expired')
			AND coalesce(e.parent_id, e.id) = (SELECT coalesce(parent_id, id) FROM entities WHERE id = ?3)`
)
