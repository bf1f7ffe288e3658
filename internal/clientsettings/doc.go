// Package clientsettings knows the programs that can start a Cordelia MCP server: how
// to tell that one is installed, where its user's settings are, and how to put
// one entry into them and take it out again. One that takes plugins is connected by
// ours, a folder of files (package plugin).
//
// Invariants:
//   - A settings file belongs to its user. An edit is made in the text: every
//     byte outside the entry, and the one comma or blank line that joins it, stays
//     as it was: order, indentation, comments, line ends.
//   - A file is replaced whole and in one step, with its mode, where a link leads,
//     and only if it did not change since it was read.
//   - Connect is idempotent, and Disconnect takes out what Connect put in.
//
// It refuses files that are not what the client itself would accept (naming line
// and column), entries of the same name that are someone else's unless forced,
// and settings written in a form that an entry cannot be added to.
package clientsettings
