package run

import (
	"fmt"
	"strings"
	"unicode"
)

// What any program needs on macOS: services for names, users, certificates and logs, and the
// system's own files. None of them opens a file of the user's or starts a program elsewhere.
var (
	profileServices = []string{"com.apple.SystemConfiguration.DNSConfiguration", "com.apple.SystemConfiguration.configd",
		"com.apple.bsd.dirhelper", "com.apple.dnssd.service", "com.apple.logd",
		"com.apple.system.notification_center", "com.apple.system.opendirectoryd.libinfo",
		"com.apple.system.opendirectoryd.membership", "com.apple.trustd.agent"}
	profileSystem = []string{"/Applications/Xcode.app/Contents/Developer", "/Library", "/System", "/private/etc",
		"/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select", "/usr", "/bin", "/sbin"}
	profileDevices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}
)

// profile words a shield for sandbox-exec of macOS: all that it does not name is denied. The
// system knows files by their real paths, so those of the shield have no links in them.
func profile(s Shield) (string, error) {
	var bad error
	each := func(form string, paths ...string) (list string) {
		for _, path := range paths {
			if strings.IndexFunc(path, unicode.IsControl) >= 0 {
				bad = fmt.Errorf("a path with control characters cannot be in a profile: %q", path)
			}
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path)
			list += "\n  " + fmt.Sprintf(form, quoted)
		}
		return list
	}
	subpath, literal := `(subpath "%s")`, `(literal "%s")`
	rules := []string{"(version 1)", "(deny default)", "(allow process-exec process-fork)",
		"(allow process-info* (target same-sandbox))", "(allow signal (target same-sandbox))",
		"(allow sysctl-read ipc-posix-sem ipc-posix-shm system-socket)",
		"(allow mach-lookup" + each(`(global-name "%s")`, profileServices...) + ")",
		"(allow file-read-metadata)",
		"(allow file-read* file-write-data file-ioctl" + each(literal, profileDevices...) + ")",
		"(allow file-read* file-map-executable" + each(literal, "/") + each(subpath, profileSystem...) +
			each(subpath, s.Read...) + each(subpath, s.Write...) + each(subpath, s.Sockets...) + ")",
		"(allow network-bind network-inbound (local ip \"localhost:*\"))",
		"(allow network-outbound" + each(literal, "/private/var/run/mDNSResponder") + ")"}
	if len(s.Write) > 0 {
		rules = append(rules, "(allow file-write*"+each(subpath, s.Write...)+")")
	}
	for _, port := range s.Ports {
		rules = append(rules, fmt.Sprintf(`(allow network-outbound (remote tcp "*:%d"))`, port))
	}
	if len(s.Sockets) > 0 {
		rules = append(rules, "(allow network-outbound"+each(`(remote unix-socket (subpath "%s"))`, s.Sockets...)+")")
	}
	return strings.Join(rules, "\n") + "\n", bad
}
