package run

import (
	"slices"
	"strings"
)

// Shield is what the processes of a client may reach. The zero value lets them reach all
// that their user may.
type Shield struct {
	On    bool
	Write []string // folders, with all below them
	Read  []string // files and folders
	Home  string   // their HOME
	Temp  string   // their TMPDIR
	Ports []uint16 // TCP ports they may connect to
}

// reading is a shield that lets more be read.
func (s Shield) reading(paths ...string) Shield {
	s.Read = append(slices.Clone(s.Read), paths...)
	return s
}

// environ puts HOME and TMPDIR of the shield into an environment.
func (s Shield) environ(list []string) []string {
	for name, value := range map[string]string{"HOME": s.Home, "TMPDIR": s.Temp} {
		if value == "" {
			continue
		}
		list = slices.DeleteFunc(list, func(one string) bool { return strings.HasPrefix(one, name+"=") })
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// wrap gives the command line that runs a program behind the shield.
func (s Shield) wrap(_, program string, args []string) (string, []string, error) {
	return program, args, nil
}
