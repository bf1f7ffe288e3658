package events

import (
	"path/filepath"
	"slices"
	"strings"
)

// AnyPlace is the place of a record that may be anyone's, such as a backup: every
// checkpoint counts for it.
const AnyPlace = "any"

// placeMark stands between the node and the place in the name of a file of checkpoints.
const placeMark = "-"

// place is where the record is that the file's checkpoints were signed for; "" is the file
// of a home, and a server's database of an earlier version.
func (f CheckpointFile) place() string {
	_, place, _ := strings.Cut(f.name(), placeMark)
	return place
}

// node is whose key the file's name says that its checkpoints were signed with.
func (f CheckpointFile) node() string {
	node, _, _ := strings.Cut(f.name(), placeMark)
	return node
}

func (f CheckpointFile) name() string {
	return strings.TrimSuffix(filepath.Base(f.Path), CheckpointSuffix)
}

// samePlace reports whether two places, as store.Place says them, are of one record: they have
// the address or the database in common. A database has many addresses, such as a pooler's, and
// a name that its server's operator changes does not take its checkpoints away.
func samePlace(a, b string) bool {
	address, database, _ := strings.Cut(a, placeMark)
	otherAddress, other, _ := strings.Cut(b, placeMark)
	return address == otherAddress || database != "" && database == other
}

// ofThisRecord leaves out the files of records that departed from this one at another
// place: a backup that was restored into a second database goes on by itself, and what was
// signed there says nothing of the record here. What its node signed elsewhere before it signed
// here, and is continued here, is this record's past: it was moved. What cannot be told apart
// counts.
func (v *verifying) ofThisRecord(files []CheckpointFile, place string) ([]CheckpointFile, error) {
	began := map[string]int64{} // when each node first signed for this place
	for _, f := range files {
		if first := began[f.node()]; samePlace(f.place(), place) && len(f.List) > 0 &&
			(first == 0 || f.List[0].At < first) {
			began[f.node()] = f.List[0].At
		}
	}
	var out, elsewhere []CheckpointFile
	for _, f := range files {
		counts := place == AnyPlace || samePlace(f.place(), place) || len(f.List) == 0
		if !counts {
			first := began[f.node()]
			counts = first == 0 || f.List[0].At < first
			if counts && f.place() != "" {
				var err error
				if counts, err = holdsLeaf(v.tx, f.List[0].Size(), f.List[0].Leaf); err != nil {
					return nil, err
				}
			}
		}
		if counts {
			out = append(out, f)
		} else {
			elsewhere = append(elsewhere, f)
		}
	}
	if !slices.ContainsFunc(out, func(f CheckpointFile) bool { return len(f.List) > 0 }) {
		return files, nil
	}
	for _, f := range elsewhere {
		v.note("%s holds %d checkpoints of a record in another database: they do not count here", f.Path, len(f.List))
	}
	return out, nil
}
