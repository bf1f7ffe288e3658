// Package clientsettings handles the settings of programs that can start a Cordelia MCP server:
// it finds whether a client is installed and where its user's settings are, and adds an entry
// to them or removes it. A client that takes plugins is connected by our plugin, a folder of
// files (package plugin).
//
// Invariants:
//   - A settings file belongs to its user. An edit is made in the text: every
//     byte outside the entry, and the one comma or blank line that joins it, stays
//     as it was: order, indentation, comments, line ends.
//   - A file is replaced whole and in one step, with its mode, where a link leads,
//     and only if it did not change since it was read.
//   - Connect is idempotent, and Disconnect takes out what Connect put in.
//
// It refuses files that the client itself would not accept (naming line and column), foreign
// entries of the same name unless forced, and settings in a form that an entry cannot be added
// to.
package clientsettings
