-- The hash of an entry of the audit record: its JSON with its number and the hash before it put in,
-- as RFC 6962 hashes a leaf. The database makes it, so that entries of many nodes follow each other
-- without a round trip between them.
CREATE FUNCTION audit_leaf(head text, seq bigint, middle text, prev bytea) RETURNS bytea
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT sha256(decode('00', 'hex') ||
    convert_to(head || seq || middle || coalesce(encode(prev, 'base64'), '') || '"}', 'UTF8')) $$;
