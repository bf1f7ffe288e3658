// Package notify wakes the readers that wait for commits, in this process and in others.
//
// A commit of one process can concern a reader that waits in another, and SQLite has no
// means to tell it. So each process with a waiting reader listens on a unix datagram socket
// in a folder beside the database, and a process that has committed sends one byte to each
// socket there. That takes some hundred microseconds; reading the database in a loop would
// take processor time while nothing happens.
//
// A notification says only that there may be news: it carries nothing, so it cannot be wrong,
// forged or out of order, and a woken reader looks with its own rights. It may get lost (a full
// buffer, a socket in a foreign folder, Windows), so a listening process also asks the
// database every 100 ms whether another connection has committed. Notifications coalesce.
//
// A process in which no reader waits neither listens nor asks: commits of others cost it
// nothing. A socket whose process was killed is removed by the next sender. It refuses a
// folder that others could write to, and then only polls.
package notify
