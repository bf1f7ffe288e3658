-- A question that names a date finds the items of that time.
CREATE INDEX items_told ON items(scope, coalesce(nullif(told_at, 0), nullif(valid_from, 0), created_at)) WHERE current = 1;
