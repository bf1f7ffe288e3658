// Package opstest gives the tests of packages above ops a home: a node with its person
// and the agent of their client, and the operations of the catalogue, called as a face
// calls them. The database is real, and the clock is the test's.
//
// It refuses nothing: SQL changes the database behind the node's back.
package opstest
