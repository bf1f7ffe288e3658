// Command mutate breaks one rule of the program at a time and runs the tests that
// should notice. A mutant that no test notices survives: the rule has no test that
// bites. The tree stays as it is: each mutant is an overlay of the compiler.
//
// It prints a line a mutant and writes the table in docs/mutants.md. Exit code 1 if a
// mutant survived, or if one says nothing: it does not compile, or its tests fail without it.
package main
