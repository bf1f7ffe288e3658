package machinecheck

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a command with the processes it starts, in a job object, which ends
// them when it is closed, even by the end of this process.
type group struct {
	cmd *exec.Cmd
	job windows.Handle // 0 = there is none
}

func grouped(cmd *exec.Cmd) group {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return group{cmd: cmd} // the command itself is ended all the same
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	windows.SetInformationJobObject(job,
		windows.JobObjectExtendedLimitInformation, //nolint:errcheck // then close ends no process
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	return group{cmd, job}
}

// started puts the command into the job. What it started in the instant before
// that is not in it.
func (g group) started() {
	if g.job == 0 {
		return
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return // it has ended
	}
	windows.AssignProcessToJobObject(g.job, h) //nolint:errcheck // see grouped
	windows.CloseHandle(h)                     //nolint:errcheck // ours alone
}

func (g group) kill() error {
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1) //nolint:errcheck // the next line ends what matters most
	}
	return g.cmd.Process.Kill()
}

func (g group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job) //nolint:errcheck // ours alone
	}
}
