-- Pages and lists ask for what is in a state, the newest first, and count it: indexes of each
-- state have that in order. With attempt, an index alone says what became of the work of a day.
CREATE INDEX work_state ON work_items(submitter, state, id, attempt);
CREATE INDEX work_group_state ON work_items(group_id, state, id) WHERE group_id <> '';
CREATE INDEX tasks_state ON tasks(submitter, state, id);
CREATE INDEX tasks_group_state ON tasks(group_id, state, id) WHERE group_id <> '';
