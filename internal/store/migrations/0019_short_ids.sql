-- An id is also named by its last 8 characters, which are random in a UUIDv7.
CREATE INDEX items_short ON items(substr(id, -8));
CREATE INDEX work_short ON work_items(substr(id, -8));
CREATE INDEX work_task_short ON work_items(substr(task_id, -8));
