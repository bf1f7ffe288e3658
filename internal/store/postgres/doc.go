// Package postgres speaks to PostgreSQL for the store: connections for database/sql, the
// statements of this project as PostgreSQL writes them, its schema, and how nodes wake each
// other.
//
// A statement of the project is one text for both engines. Translate changes what PostgreSQL
// spells differently (parameters, blobs, hints about the order of joins); functions that only
// SQLite has are functions of the schema (schema/functions.sql).
//
// A connection answers with the whole result, so that several queries of a transaction can be
// read at once, and gives every number as int64, as SQLite does. In a write transaction each
// change runs in a savepoint, in one round trip: a change that fails is undone alone, where
// PostgreSQL would give up the transaction.
//
// Behind a pooler that hands each transaction another session nothing rests on one: statements
// have no names and settings end with their transaction. Nodes then look for each other's
// commits from time to time, and cannot tell which processes live.
//
// It refuses servers older than 15 and databases whose text is not UTF-8.
package postgres
