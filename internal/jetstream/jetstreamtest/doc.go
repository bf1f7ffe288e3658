// Package jetstreamtest runs a NATS server with JetStream in the process of a test, with one
// stream and a user that may do no more than publish there.
package jetstreamtest
