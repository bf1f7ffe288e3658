package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"cordelia/schemas"
)

// Rights of Landlock, by the version of its interface that brought them.
const (
	fsFirst  = 1<<13 - 1 // version 1
	fsRead   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	fsOfFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	rulePort = 2 // LANDLOCK_RULE_NET_PORT

	// leastABI has TCP ports. Below it a shield would promise what it does not hold.
	leastABI = 4
)

// portRule is struct landlock_net_port_attr.
type portRule struct{ access, port uint64 }

// landlockABI is the version of the kernel's interface, 0 = there is none.
func landlockABI() int {
	v, _, bad := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if bad != 0 {
		return 0
	}
	return int(v)
}

// Shielded says what a shield holds on this system and what it leaves open, or why there
// is none.
func Shielded() (enforced, open []string, err error) {
	abi := landlockABI()
	if abi < leastABI {
		return nil, nil, schemas.Errorf(schemas.CodeUnavailable,
			"this kernel cannot confine workers: its Landlock has version %d", abi).
			Expecting("version %d or newer (Linux 6.7), switched on", leastABI).
			Try("say --sandbox none: workers then reach what you can")
	}
	enforced, open = enforcedBy(abi)
	return enforced, open, nil
}

// enforcedBy says what a version of Landlock holds, and what it leaves open.
func enforcedBy(abi int) (enforced, open []string) {
	enforced = []string{"files outside the worktree cannot be written", "files outside a list cannot be read",
		"TCP connects to listed ports only"}
	open = []string{"data can leave by those ports, to any host",
		"what the client can read of its own login, its commands can read",
		"modes and times of files that it can name can be changed"}
	part := func(version int, what string) {
		if abi >= version {
			enforced = append(enforced, what)
		} else {
			open = append(open, "not held by this kernel: "+what)
		}
	}
	part(6, "no signals to processes outside, no abstract unix sockets")
	part(9, "no unix sockets by path but the runner's")
	part(10, "no UDP but by listed ports")
	return enforced, open
}

// TryShield confines one thread of this process and looks whether the shield holds there.
func TryShield() error {
	folder, err := os.MkdirTemp("", "cordelia-shield-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temporary folder
	secret := filepath.Join(folder, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		return err
	}
	tried := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its restrictions
		tried <- tryShield(secret)
	}()
	return <-tried
}

func tryShield(secret string) error {
	if err := restrict(Shield{Read: systemFolders}); err != nil {
		return err
	}
	if fd, err := unix.Open(secret, unix.O_RDONLY|unix.O_CLOEXEC, 0); !errors.Is(err, unix.EACCES) {
		unix.Close(fd) //nolint:errcheck // that it could be opened is the trouble
		return errors.New("a file outside the shield could be read")
	}
	if fd, err := unix.Open(secret+"2", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); !errors.Is(err,
		unix.EACCES) {
		unix.Close(fd) //nolint:errcheck // the same
		return errors.New("a file outside the shield could be written")
	}
	if fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err == nil {
		unix.Close(fd) //nolint:errcheck // the same
		return errors.New("a terminal could be opened")
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // there is no network to protect
	}
	defer unix.Close(s) //nolint:errcheck // it was only tried
	if err := unix.Connect(s, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}); !errors.Is(err, unix.EACCES) {
		return errors.New("a port outside the shield could be connected to")
	}
	return nil
}

// become restricts this thread by Landlock and replaces the process by the program, which
// takes over the restriction of the thread that calls it.
func become(s Shield, program string, args []string) error {
	runtime.LockOSThread()
	path, err := exec.LookPath(program)
	if err != nil {
		return err
	}
	if err := restrict(s); err != nil {
		return fmt.Errorf("confine %s: %w", program, err)
	}
	return syscall.Exec(path, append([]string{program}, args...), os.Environ())
}

// restrict gives up what the shield does not leave, for this thread.
func restrict(s Shield) error {
	abi := landlockABI()
	if abi < leastABI {
		return fmt.Errorf("the kernel's Landlock has version %d, and %d is needed", abi, leastABI)
	}
	attr := handled(abi)
	fd, _, bad := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if bad != 0 {
		return fmt.Errorf("make a ruleset: %w", bad)
	}
	defer unix.Close(int(fd)) //nolint:errcheck // it was applied
	r := ruleset{int(fd), attr.Handled_access_fs, attr.Handled_access_net}
	for _, rule := range []struct {
		paths  []string
		access uint64
	}{{s.Write, r.fs &^ unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX}, {devices, fsOfFile &^ unix.LANDLOCK_ACCESS_FS_EXECUTE},
		{s.Read, fsRead},
		{s.Sockets, fsRead | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX}} {
		for _, path := range rule.paths {
			if err := r.path(path, rule.access); err != nil {
				return err
			}
		}
	}
	for _, port := range s.Ports {
		if err := r.port(port); err != nil {
			return err
		}
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if _, _, bad := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); bad != 0 {
		return fmt.Errorf("restrict: %w", bad)
	}
	return nil
}

// handled is all that a kernel with this version of Landlock can take away.
func handled(abi int) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs:  fsFirst | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE,
		Handled_access_net: unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
	}
	if abi >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if abi >= 9 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	if abi >= 10 {
		attr.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	}
	return attr
}

// dropCapabilities keeps the program from having any, even if root starts it: with CAP_PERFMON
// a process reads the memory of any other, which Landlock does not prevent.
func dropCapabilities() error {
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) //nolint:errcheck // old kernels have none
	for c := range uintptr(64) {
		has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			return nil // no kernel has more
		}
		if has == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && os.Geteuid() == 0 {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	return nil
}

// devices are open to every worker. Terminals are not among them: a process that opens the
// user's terminal can type into it and read what is typed.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// ruleset is a ruleset that is being made, with the rights it handles.
type ruleset struct {
	fd      int
	fs, net uint64
}

// path grants rights on a file, or a folder and all below it. One that is not there grants
// nothing.
func (r ruleset) path(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // opened for its name alone
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if access &= r.fs; stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fsOfFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, bad := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); bad != 0 {
		return fmt.Errorf("grant %s: %w", path, bad)
	}
	return nil
}

// port grants connections to a port.
func (r ruleset) port(port uint16) error {
	rule := portRule{r.net, uint64(port)}
	if _, _, bad := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), rulePort, uintptr(unsafe.Pointer(&rule)),
		0, 0, 0); bad != 0 {
		return fmt.Errorf("grant port %d: %w", port, bad)
	}
	return nil
}
