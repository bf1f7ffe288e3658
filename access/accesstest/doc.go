// Package accesstest gives the tests of packages above access a node: a real store
// behind a real Authorizer, with people, agents and groups in it, and a clock that they
// move.
//
// It refuses nothing: people, agents and groups are rows, written behind the node's back.
package accesstest
