-- What the files that machine checks of a task look at were like before its first executor
-- began: what is as it was then was not made for the task, whatever its times say. A row with
-- an empty sum says that a file was looked for.

CREATE TABLE task_artefacts (
  task INTEGER NOT NULL REFERENCES tasks(n),
  path TEXT NOT NULL,                      -- below the folders for checks
  sum  TEXT NOT NULL,                      -- SHA-256 of a file there, in hex
  PRIMARY KEY (task, path, sum)
) STRICT, WITHOUT ROWID;
