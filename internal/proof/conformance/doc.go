// Command conformance is the server the official MCP conformance suite is run
// against: the tools, resources and prompts the suite prescribes, on exactly
// the transports of package mcp. What passes here is true of the product's
// transport; the operations themselves are tested elsewhere.
//
// It is a test tool: it accepts every caller and is never installed. It
// refuses to listen on anything but loopback.
package main
