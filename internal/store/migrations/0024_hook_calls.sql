-- What the hooks of a client told of an executor's tool calls, in sessions that the node did
-- not start. They support or contradict what the executor claims, and are no record of the
-- node's. Times are UTC microseconds; rows go after 30 days.

CREATE TABLE hook_calls (
  n     INTEGER PRIMARY KEY,
  item  INTEGER NOT NULL REFERENCES work_items(n),
  fence INTEGER NOT NULL,                  -- of the lease that was held then
  tool  TEXT NOT NULL,
  input TEXT NOT NULL,
  exit  INTEGER NOT NULL,                  -- 0 = it worked
  head  TEXT NOT NULL DEFAULT '',
  tail  TEXT NOT NULL DEFAULT '',
  at    INTEGER NOT NULL
) STRICT;
CREATE INDEX hook_calls_item ON hook_calls(item, fence);
CREATE INDEX hook_calls_at ON hook_calls(at);
