// Package storetest is the contract every storage engine passes: what the
// domain packages rely on, stated through the store's exported API alone.
//
// It knows nothing of files; what is particular to SQLite (side files, crashes,
// restores) is tested beside the store.
package storetest
