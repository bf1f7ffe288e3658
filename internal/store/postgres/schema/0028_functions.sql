-- Functions that statements of the project name as SQLite does.

CREATE FUNCTION max(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT greatest(a, b) $$;
CREATE FUNCTION min(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT least(a, b) $$;
CREATE FUNCTION instr(whole text, part text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT strpos(whole, part)::bigint $$;

-- cut is substr with a negative start counted from the end.
CREATE FUNCTION cut(whole text, start bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT CASE WHEN start < 0 THEN right(whole, (-start)::int) ELSE substr(whole, start::int) END $$;
CREATE FUNCTION cut(whole text, start bigint, length bigint) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT substr(CASE WHEN start < 0 THEN right(whole, (-start)::int) ELSE whole END,
    CASE WHEN start < 0 THEN 1 ELSE start::int END, length::int) $$;
CREATE FUNCTION date(seconds bigint, unit text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT to_char(to_timestamp(seconds) AT TIME ZONE 'UTC', 'YYYY-MM-DD') $$;

-- json_each gives the elements of a list as text: CAST those that are numbers.
CREATE FUNCTION json_each(list text) RETURNS TABLE (key bigint, value text)
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 10
  AS $$ SELECT n - 1, v COLLATE "C" FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS e(v, n) $$;
-- A number compares with an element of a list, or what json_extract gives, as with a number.
CREATE FUNCTION same(a bigint, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT a = b::bigint $$;
CREATE FUNCTION same(a text, b bigint) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT a::bigint = b $$;
CREATE OPERATOR = (LEFTARG = bigint, RIGHTARG = text, FUNCTION = same, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE OPERATOR = (LEFTARG = text, RIGHTARG = bigint, FUNCTION = same, RESTRICT = eqsel, JOIN = eqjoinsel);
CREATE FUNCTION json_extract(doc text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT CASE jsonb_typeof(v) WHEN 'boolean' THEN v::boolean::int::text ELSE v #>> '{}' END
    FROM (SELECT jsonb_path_query_first(doc::jsonb, path::jsonpath) AS v) AS found $$;
CREATE FUNCTION json_type(doc text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT CASE jsonb_typeof(v) WHEN 'string' THEN 'text' WHEN 'boolean' THEN v::text
      WHEN 'number' THEN CASE WHEN v #>> '{}' LIKE '%.%' THEN 'real' ELSE 'integer' END
      ELSE jsonb_typeof(v) END
    FROM (SELECT jsonb_path_query_first(doc::jsonb, path::jsonpath) AS v) AS found $$;

CREATE FUNCTION list(parts text[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT array_to_string(parts, ',') $$;
CREATE FUNCTION list(parts bigint[]) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT array_to_string(parts, ',') $$;
CREATE FUNCTION append_text(so_far text, more text, mark text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT CASE WHEN more IS NULL THEN so_far ELSE coalesce(so_far || mark, '') || more END $$;
CREATE AGGREGATE group_concat(text) (SFUNC = array_append, STYPE = text[], FINALFUNC = list);
CREATE AGGREGATE group_concat(bigint) (SFUNC = array_append, STYPE = bigint[], FINALFUNC = list);
CREATE AGGREGATE group_concat(text, text) (SFUNC = append_text, STYPE = text);

-- Full text: what is indexed was cut and stemmed by this program, with a space between the
-- words, and so are the words of a query; no dictionary of the server has a say.
CREATE FUNCTION lexemes(entries text) RETURNS tsvector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT array_to_tsvector(array_remove(string_to_array(entries, ' '), '')) $$;
-- A query is "a" OR "b", (...) AND (...), (...) NOT (...), as FTS5 reads it.
CREATE FUNCTION wanted(query text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT replace(replace(replace(replace(query, '"', ''''), ' OR ', ' | '), ' AND ', ' & '),
    ' NOT ', ' & ! ')::tsquery $$;
CREATE FUNCTION matches(entries text, query text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT lexemes(entries) @@ wanted(query) $$;
CREATE OPERATOR ~@ (LEFTARG = text, RIGHTARG = text, FUNCTION = matches);
