-- The functions that statements call most. The server plans a body in SQL anew with each call, and
-- one in PL/pgSQL once in a session.

CREATE OR REPLACE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text)
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
  AS $$ BEGIN
    RETURN QUERY SELECT n - 1, v COLLATE "C" FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS e(v, n);
  END $$;

CREATE OR REPLACE FUNCTION json_extract(doc text, path text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ DECLARE found jsonb := jsonb_path_query_first(doc::jsonb, path::jsonpath);
  BEGIN
    RETURN CASE jsonb_typeof(found) WHEN 'boolean' THEN found::boolean::int::text ELSE found #>> '{}' END;
  END $$;

-- The hash of an entry of the audit record: its JSON with its number and the hash before it put in,
-- as RFC 6962 hashes a leaf.
CREATE OR REPLACE FUNCTION audit_leaf(head text, seq bigint, middle text, prev bytea) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
  AS $$ BEGIN
    RETURN sha256(decode('00', 'hex') ||
      convert_to(head || seq || middle || coalesce(encode(prev, 'base64'), '') || '"}', 'UTF8'));
  END $$;
