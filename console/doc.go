// Package console serves pages for people: what waits for them, what their agents do,
// and why. A page shows what operations of the catalogue answer, and a form calls one:
// no rule, query or permission is its own.
//
// A session belongs to the person whose key made its code. An agent's token opens
// nothing here, and a session opens nothing elsewhere.
//
// It refuses whoever has no session, whatever changes something by GET, and forms that
// another site sent.
package console
