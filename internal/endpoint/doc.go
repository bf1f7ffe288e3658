// Package endpoint is the address of a model's server, the key for it, and the HTTP
// client that speaks to it, for all that ask a model: embeddings and seats.
//
// It refuses plain HTTP to anything but this machine, addresses that carry a password or
// a query, redirects, and key files that others can read. The key is sent to the
// configured host alone; no value of this package prints it.
package endpoint
