package platform

// LockHolder is a process that holds a lock.
type LockHolder struct {
	PID     int
	Stopped bool   // by a signal or a debugger: it gives nothing back until it goes on
	Command string // its command line, as far as it may be seen
}
