-- Messages of a session that had read what comes from outside: who reads them has, too.
ALTER TABLE role_messages ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;
