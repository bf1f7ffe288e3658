-- What waits for a person because no call proves it ends at a time, and events of work
-- items and of tasks have names of their own. Times are UTC microseconds.

ALTER TABLE tasks ADD COLUMN decide_by INTEGER NOT NULL DEFAULT 0; -- of a review: then the task is given up; 0 = it waits
CREATE INDEX tasks_decide ON tasks(decide_by) WHERE decide_by > 0 AND state = 'review';

-- Events of work items are named work.* now.
UPDATE events SET type = 'work.' || substr(type, 6) WHERE type IN ('task.ready', 'task.done', 'task.failed', 'task.held', 'task.blocked', 'task.cancelled');
-- A reader of them hears the same by its new name, and what became of the task.
INSERT OR IGNORE INTO subscriptions(entity_id, type, group_id)
  SELECT s.entity_id, t.now, s.group_id FROM subscriptions s JOIN (
    SELECT 'task.ready' AS was, 'work.ready' AS now
    UNION ALL SELECT 'task.done', 'work.done' UNION ALL SELECT 'task.done', 'task.accepted'
    UNION ALL SELECT 'task.failed', 'work.failed' UNION ALL SELECT 'task.failed', 'task.abandoned'
    UNION ALL SELECT 'task.held', 'work.held' UNION ALL SELECT 'task.held', 'task.asks'
    UNION ALL SELECT 'task.blocked', 'work.blocked' UNION ALL SELECT 'task.cancelled', 'work.cancelled') t ON t.was = s.type;
DELETE FROM subscriptions WHERE type IN ('task.ready', 'task.done', 'task.failed', 'task.blocked');

-- Of a report that machine checks decide on: until when a process runs them; then another
-- one may. 0 = there are none, or they are made.
ALTER TABLE task_seats ADD COLUMN check_by INTEGER NOT NULL DEFAULT 0;
CREATE INDEX task_seats_check ON task_seats(check_by) WHERE check_by > 0;
