package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/cmd/cordelia/platform"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

// checkpointFiles reads the home's checkpoints and their copies. Settings that
// cannot be used have a line of their own.
func (x *examination) checkpointFiles(home node.Home) (folders []string, files []events.CheckpointFile) {
	folders, err := config.CheckpointFolders(home)
	if err != nil {
		folders = []string{home.Checkpoints()}
	}
	if files, err = node.CheckpointFiles(folders...); err != nil {
		x.refused("checkpoints", err)
	}
	return folders, files
}

// record reports whether the audit record fits itself and its checkpoints.
func (x *examination) record(v events.Verified, err error) {
	const check = "audit record"
	switch {
	case err != nil:
		x.report(check, Problem, "put back a backup: cordelia restore FILE", "it cannot be read: %v", err)
	case !v.Sound():
		x.report(check, Problem, "the database or its checkpoints were changed from outside Cordelia; cordelia audit "+
			"verify tells more; compare with a backup: cordelia restore --dry-run FILE", "%s", v.Damage[0].What)
	default:
		x.report(check, Fine, "", "%s, unbroken; %s", schemas.Count(int(v.Entries), "entry", "entries"),
			x.app.Here(lastDeep(node.Home(x.home))))
	}
}

// lastDeep says when items and rights were last compared with the record.
func lastDeep(home node.Home) string {
	at, sound, ok := home.LastDeepVerification()
	switch {
	case !ok:
		return "items and rights were never compared with it: cordelia audit verify --deep"
	case !sound:
		return "items or rights did not fit it on " + cli.Clock(at.Format(time.RFC3339)) +
			": cordelia audit verify --deep"
	}
	return "items and rights fitted it on " + cli.Clock(at.Format(time.RFC3339))
}

// staleCheckpoint is the age from which a newest checkpoint that lacks entries is
// a finding, and a first one of which no copy left the machine.
const staleCheckpoint = 24 * time.Hour

// elsewhere is the fix where checkpoints prove nothing to who doubts the machine.
const elsewhere = `name a folder on another disk, such as a mounted share, in config.json: ` +
	`{"checkpoint_dirs":["/mnt/share"]}; then: cordelia audit checkpoint`

// checkpoints reports whether the record is covered, and whether what covers it is
// anywhere else than beside the database.
func (x *examination) checkpoints(folders []string, files []events.CheckpointFile, v events.Verified) {
	const check = "checkpoints"
	const sign = "cordelia audit checkpoint"
	for _, folder := range folders[1:] {
		if !cli.Exists(folder) {
			x.report(check, Warning, "mount or make it, or take it out of checkpoint_dirs in config.json",
				"%s is not there, so it gets no copies", folder)
			return
		}
	}
	var oldest, newest time.Time
	for _, f := range files {
		for _, c := range f.List {
			if c.Time().After(newest) {
				newest = c.Time()
			}
			if oldest.IsZero() || c.Time().Before(oldest) {
				oldest = c.Time()
			}
		}
	}
	switch {
	case v.Checkpoints == 0 && v.Entries == 0:
		x.report(check, Fine, "", "none yet, and no entries")
	case v.Checkpoints == 0:
		x.report(check, Warning, sign, "none: what is cut off the audit record's end does not show")
	case v.Covered < v.Entries && time.Since(newest) > staleCheckpoint:
		x.report(check, Warning, sign, "the newest is of %s and lacks %s", cli.Clock(newest.Format(time.RFC3339)),
			schemas.Count(int(v.Entries-v.Covered), "entry", "entries"))
	case len(folders) == 1:
		found := Fine // a new home has a day
		if time.Since(oldest) > staleCheckpoint {
			found = Warning
		}
		x.report(check, found, elsewhere,
			"%d, up to entry %d; none left this machine: checkpoint_dirs in config.json names folders that get copies",
			v.Checkpoints, v.Covered)
	default:
		x.copies(check, folders, files, v)
	}
}

// copies reports whether the folders elsewhere have what the home has, and whether
// they are elsewhere.
func (x *examination) copies(check string, folders []string, files []events.CheckpointFile, v events.Verified) {
	own := slices.DeleteFunc(slices.Clone(files), func(f events.CheckpointFile) bool {
		return !cli.Exists(filepath.Join(folders[0], filepath.Base(f.Path))) // another node's
	})
	near, here := 0, newestIn(own, folders[0])
	for _, folder := range folders[1:] {
		if there := newestIn(own, folder); there < here {
			x.report(check, Warning, fmt.Sprintf(
				"see that it can be written: ls -ld %q; then: cordelia audit checkpoint", folder),
				"the copies in %s reach entry %d, those here entry %d", folder, there, here)
			return
		}
		if platform.SameDisk(folder, x.home) {
			near++
		}
	}
	if near == len(folders)-1 {
		x.report(check, Warning, elsewhere, "%d, up to entry %d; folders with copies: %d, all on the home's own disk",
			v.Checkpoints, v.Covered, near)
		return
	}
	x.report(check, Fine, "", "%d, up to entry %d; folders with copies: %d, of them on the home's own disk: %d",
		v.Checkpoints, v.Covered, len(folders)-1, near)
}

// newestIn gives the newest entry that a folder's checkpoints cover.
func newestIn(files []events.CheckpointFile, folder string) (newest int64) {
	for _, f := range files {
		if filepath.Dir(f.Path) != filepath.Clean(folder) {
			continue
		}
		for _, c := range f.List {
			newest = max(newest, c.Size())
		}
	}
	return newest
}
