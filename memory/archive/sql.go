package archive

// selectPersonKey gives key ?2 of the person ?1 if they stand at the root of ?3, unless a
// later key was made because that one was compromised.
const selectPersonKey = `SELECT k.public_key FROM entity_keys k JOIN entities e ON e.id = k.entity_id
	WHERE k.entity_id = ?1 AND k.seq = ?2 AND e.kind = 'human' AND e.id = (SELECT root_id FROM entities
	WHERE id = ?3)
	AND NOT EXISTS (SELECT 1 FROM entity_keys n WHERE n.entity_id = k.entity_id AND n.seq > k.seq
	AND n.reason = 'compromised')`
