// Package console serves pages for people: what waits for them, what their agents do, and why.
// A page shows the answers of operations of the catalogue, and a form calls one. The package
// has no rules, queries or permissions.
//
// A session belongs to the person whose key made its code. An agent's token opens
// nothing here, and a session opens nothing elsewhere.
//
// It refuses requests without a session, changes by GET, and forms that another site sent.
package console
