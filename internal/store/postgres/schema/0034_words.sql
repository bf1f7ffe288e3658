-- A search asks for the newest items that have a word. GIN gives no order, so of a frequent word it
-- would collect and sort all. Here each word of an item has a row, in order. What goes with a filter,
-- and the letters of words, is left to items_fts_entries.
CREATE TABLE items_fts_words (
  word TEXT COLLATE "C" NOT NULL,
  item BIGINT NOT NULL,
  PRIMARY KEY (word, item)
);

-- in_order gives those words of a line of entries that have rows; all begin with one audience.
CREATE FUNCTION in_order(entries text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT lexeme FROM unnest(lexemes(entries)), substring(entries FROM '[sq][0-9]+') AS audience
    WHERE starts_with(lexeme, audience || 'w') OR lexeme = audience || 'm' $$;
INSERT INTO items_fts_words(word, item) SELECT w.word, f.rowid FROM items_fts f, in_order(f.entries) AS w(word)
  ORDER BY f.rowid;

CREATE FUNCTION items_fts_written() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO items_fts_words(word, item) SELECT w, NEW.rowid FROM in_order(NEW.entries) AS w;
  ELSE
    DELETE FROM items_fts_words USING in_order(OLD.entries) AS w WHERE item = OLD.rowid AND word = w;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER items_fts_written AFTER INSERT OR DELETE ON items_fts FOR EACH ROW
  EXECUTE FUNCTION items_fts_written();

-- newest gives the newest items that a query finds, at most so many, the newest first.
CREATE FUNCTION newest(query text, most bigint) RETURNS SETOF bigint LANGUAGE plpgsql STABLE STRICT
  AS $$ BEGIN
    IF query ~ '^\(?"[sq][0-9]+(w[^"]*|m)"( OR "[sq][0-9]+(w[^"]*|m)")*\)?$' THEN -- words alone
      RETURN QUERY SELECT DISTINCT w.item FROM unnest(string_to_array(translate(query, '()"', ''), ' OR ')) AS q(word)
        CROSS JOIN LATERAL (SELECT o.item FROM items_fts_words o WHERE o.word = q.word
          ORDER BY o.item DESC LIMIT most) AS w
        ORDER BY w.item DESC LIMIT most;
    ELSE
      RETURN QUERY SELECT rowid FROM items_fts WHERE entries ~@ query ORDER BY rowid DESC LIMIT most;
    END IF;
  END $$;
