// Command structure counts what the code is made of, into docs/structure.md: packages with their files,
// lines and imports, the longest functions, and the words that plain language left behind.
//
// It only counts. What must hold is in internal/archtest.
package main
