// Package archive writes memory into files and reads it from files: exports, in JSONL for
// programs and in Markdown for people, each record signed; the JSONL of the reference memory
// server; transcripts; and plain Markdown.
//
// export.go writes, seal.go signs and verifies, kind.go finds out what a file is, bundle.go,
// foreign.go and transcript.go read it, import.go puts it into the memory of the actor. What an
// item is, who may read and write it, and how far it is believed, package memory decides:
// archive goes through memory.Kept and memory.Take, each under a grant.
//
// It refuses each record by itself that is not right, and a whole file only if nothing of it
// can be imported, or if it is read as a note and a line shows that it is none.
package archive
