package machinecheck

// writable counts every file as one the user may write: its access lists are not read.
func writable(string) bool { return true }
