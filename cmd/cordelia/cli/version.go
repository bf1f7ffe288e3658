package cli

import "runtime/debug"

// release is set by the release build: -ldflags "-X cordelia/cmd/cordelia/cli.release=v1.2.3".
var release string

// Version is the release, or the commit of a build from a checkout.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// Release is the release this program was built as, "" for a build from a checkout.
func Release() string { return release }
