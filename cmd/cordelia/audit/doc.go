// Package audit is the commands over the audit record: see what was done, sum it up, sign and
// verify that the record is whole, and prove an entry of it to others.
//
// It changes nothing but what checkpoint signs, and refuses a verification that no checkpoint
// is compared with.
package audit
