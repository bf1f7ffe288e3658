// Package gittest makes repositories of a user's for tests.
//
// It refuses nothing: what goes wrong ends the test.
package gittest
