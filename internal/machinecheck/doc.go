// Package machinecheck finds out whether a machine check holds: about files below folders
// the operator names, or by running a command there.
//
// It opens files through os.Root, so neither dots nor links lead out of those
// folders, and reads regular files alone, up to a size. Holds tells whether a check
// holds and nothing of what it read. Run also gives evidence: of a file its size,
// hash and time, of a command how it ended and what it printed. What cannot be
// found out is an error, never an answer.
//
// Invariants:
//   - INV-FRESH: a file that was not written since the attempt began, or is as it was
//     before its task's executors did, passes no check of that attempt.
//
// The author of a criterion with a command decides what runs as the user of this
// process, so the operator allows commands, and Holds runs none. They get
// PATH, a home of their own and no input. At the limits, and when they are done,
// their process group is killed, with every process left in it. This is no
// sandbox: a process that leaves the group (setsid) lives on, and may
// read and reach over the network what this user may.
//
// A file's time is the file system's: freshness allows 50 ms, 2 s where stamps
// have no fraction, and a minute for stamps to come. A share whose clock is
// further off makes files stale. A user who may write the file can set its time; what a
// file was like before the task's executors began tells one that was only touched.
package machinecheck
