// Package doctor checks an installation: the program, the clients' settings, the home with its
// keys and files, the database, the audit record, embeddings and the sandbox, and on request
// each client that could fill a seat. It changes nothing without --fix.
package doctor
