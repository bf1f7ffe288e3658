-- Whether an item is superseded is worked out when it is read, from its successor;
-- instructions take effect by equal words of an independent author only.

-- Items whose effect the node decides anew when it next opens the database.
CREATE TABLE rechecks (
  item INTEGER PRIMARY KEY REFERENCES items(n)
) STRICT;

-- A superseded item no longer bears the time at which its successor began.
UPDATE items SET valid_to = 0 WHERE superseded_by <> '' AND valid_to = (
  SELECT CASE WHEN s.valid_from <> 0 THEN s.valid_from ELSE s.created_at END FROM items s WHERE s.id = items.superseded_by);

-- What a person wrote or released, no agent supersedes: it is current again.
INSERT INTO rechecks(item) SELECT i.n FROM items i JOIN items s ON s.id = i.superseded_by
  WHERE i.superseded_by <> '' AND i.deleted_at = 0 AND EXISTS (SELECT 1 FROM entities a WHERE a.id = s.author AND a.kind = 'agent')
  AND (EXISTS (SELECT 1 FROM entities p WHERE p.id = i.author AND p.kind = 'human')
    OR EXISTS (SELECT 1 FROM releases r WHERE r.item = i.n AND r.released = 1 AND r.content_hash = i.content_hash));
UPDATE items SET superseded_by = '' WHERE n IN (SELECT item FROM rechecks);

-- What instructs and took effect without a person waits until the node decided anew.
INSERT OR IGNORE INTO rechecks(item) SELECT i.n FROM items i JOIN entities o ON o.id = i.owner AND o.kind = 'agent'
  WHERE i.type = 'learning' AND i.quarantined = 0 AND i.deleted_at = 0 AND instr(i.provenance, '"task":"') = 0
  AND (instr(i.data, '"type":"procedure"') > 0 OR instr(i.data, '"type":"constraint"') > 0 OR instr(i.data, '"type":"template"') > 0)
  AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.item = i.n AND r.released = 1 AND r.content_hash = i.content_hash);
