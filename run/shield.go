package run

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Shield is what the processes of a client may reach. The zero value lets them reach all
// that their user may.
type Shield struct {
	On      bool     `json:"on"`
	Write   []string `json:"write"`   // folders with all below them, and files
	Read    []string `json:"read"`    // the same, to read and to run
	Sockets []string `json:"sockets"` // folders with unix sockets they may connect to, where the system can tell
	Ports   []uint16 `json:"ports"`   // TCP ports they may connect to
	Home    string   `json:"home"`    // their HOME, "" = the user's
	Temp    string   `json:"temp"`    // their TMPDIR
	// Env is NAME=VALUE, beside and in place of others. It goes by the environment alone: other
	// users read the arguments of a process.
	Env []string `json:"-"`
}

// reading is a shield that lets more be read.
func (s Shield) reading(paths ...string) Shield {
	s.Read = append(slices.Clone(s.Read), paths...)
	return s
}

// environ puts the variables of the shield into an environment.
func (s Shield) environ(list []string) []string {
	own := slices.Clone(s.Env)
	for name, value := range map[string]string{"HOME": s.Home, "TMPDIR": s.Temp} {
		if value != "" {
			own = append(own, name+"="+value)
		}
	}
	for _, one := range own {
		name, _, _ := strings.Cut(one, "=")
		list = slices.DeleteFunc(list, func(other string) bool { return strings.HasPrefix(other, name+"=") })
	}
	list = append(list, own...)
	slices.Sort(list)
	return list
}

// The hidden commands of this program that a client is started through.
const (
	superviseCommand = "supervise" // ends all that it started when its input of life ends
	confineCommand   = "confine"   // gives up rights and becomes the client
	toolCommand      = "tool"      // carries out a call of a tool that an API's model made
)

// wrap gives the command line that runs a program supervised and behind the shield. self
// is the path of this program.
func (s Shield) wrap(self, program string, args []string) (string, []string, error) {
	if !s.On {
		return self, append([]string{superviseCommand, program}, args...), nil
	}
	spec, err := json.Marshal(s)
	if err != nil {
		return "", nil, err
	}
	return self, append([]string{superviseCommand, self, confineCommand, string(spec), program}, args...), nil
}

// Enter runs a hidden command, if args are one, and gives its exit code. It is for main,
// before anything else.
func Enter(args []string) (code int, ours bool) {
	if len(args) < 2 {
		return 0, false
	}
	var err error
	switch args[0] {
	case superviseCommand:
		if code, err = supervise(args[1], args[2:]); err == nil {
			return code, true
		}
	case confineCommand:
		if len(args) < 3 {
			return 0, false
		}
		err = confine(args[1], args[2], args[3:])
	case toolCommand:
		if err := useTool(args[1], os.Stdin, os.Stdout); err != nil {
			fmt.Println(err) // for the model
			return 1, true
		}
		return 0, true
	default:
		return 0, false
	}
	fmt.Fprintf(os.Stderr, "cordelia %s: %v\n", args[0], err)
	return exitNoStart, true
}

// exitNoStart is the exit code of a client that could not be started, as shells give it.
const exitNoStart = 126

// confine gives up the rights that a shield does not leave and becomes the program
// (INV-SHIELD). A right that cannot be given up ends it instead.
func confine(spec, program string, args []string) error {
	var s Shield
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return fmt.Errorf("read the shield: %w", err)
	}
	return become(s, program, args)
}
