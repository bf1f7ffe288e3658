// Package jetstream hands messages to a stream of NATS JetStream.
//
// A message is handed over when the stream has acknowledged it. Each carries an id
// (Nats-Msg-Id), by which the stream drops what it took before: to publish again after a lost
// answer does no harm as long as the stream remembers the id.
//
// It connects with the first message, makes no stream, reads nothing, and refuses addresses
// that hold a password, and those of other machines without TLS.
package jetstream
