package memory

const (
	// selectToEmbed reads what decides whether an item is sent to a model, and its text.
	selectToEmbed = `SELECT i.n, i.data, i.visibility, i.source, i.confidence, i.validated, i.quarantined,
		i.deleted_at, i.current FROM json_each(?) j CROSS JOIN items i ON i.n = j.value`

	// selectMeant reads candidates, given as [item, seq], in that order. What the
	// filters leave out, and lessons unless ?7, come without their vectors.
	selectMeant = `SELECT i.n, e.seq, i.id, i.owner, i.author, i.valid_from, i.valid_to, i.superseded_by,
		i.expires_at, i.created_at, i.scope,
			i.confidence, i.validated, i.quarantined, i.source, i.deleted_at,
			coalesce((SELECT CAST(json_extract(c.culture, '$.ttl_default') AS BIGINT) FROM groups c
				WHERE c.id = i.group_id), 0), CASE
			WHEN (?4 = '' OR i.type = ?4) AND (?5 = '' OR i.author = ?5)
			AND NOT EXISTS (SELECT 1 FROM json_each(?6) t WHERE t.value NOT IN (SELECT value FROM json_each(i.tags)))
			AND (?7 OR NOT ` + lesson + `) THEN e.vector ELSE x'' END
		FROM json_each(?1) j CROSS JOIN embeddings e ON e.item = json_extract(j.value, '$[0]')
		AND e.seq = json_extract(j.value, '$[1]')
		CROSS JOIN items i ON i.n = e.item
		WHERE e.model = ?2 AND i.scope IN (SELECT value FROM json_each(?3)) AND e.scope = i.scope
		AND e.content_hash = i.content_hash`
)
