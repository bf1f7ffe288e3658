package events

import (
	"path/filepath"
	"slices"
	"strings"

	"cordelia/schemas"
)

// Origin says which record is verified: it tells the checkpoints signed for it from those of others.
type Origin struct {
	Place string           // as store.Place says it; "" is the file of a home
	Node  schemas.EntityID // the node that keeps it; "" = not known, and each node's checkpoints count
}

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

// ofThisRecord leaves out the files of other records: one that departed from this one at another
// place, as a backup that was restored into a second database and went on by itself, and one of
// another node that keeps its checkpoints in the same folder. What was signed there says nothing of
// the record here. What cannot be told apart counts.
func (v *verifying) ofThisRecord(files []CheckpointFile, at Origin) ([]CheckpointFile, error) {
	began := map[string]int64{} // when each node first signed for this place
	own := false                // the node's own checkpoints are of this record
	for _, f := range files {
		if len(f.List) == 0 {
			continue
		}
		first := f.List[0]
		if t := began[f.node()]; samePlace(f.place(), at.Place) && (t == 0 || first.At < t) {
			began[f.node()] = first.At
		}
		if first.Node == at.Node && !own {
			var err error
			if own, err = holdsLeaf(v.tx, first.Size(), first.Leaf); err != nil {
				return nil, err
			}
		}
	}
	var out, others []CheckpointFile
	for _, f := range files {
		counts, err := v.counts(f, at, began[f.node()], own)
		if err != nil {
			return nil, err
		}
		if counts {
			out = append(out, f)
		} else {
			others = append(others, f)
		}
	}
	if !slices.ContainsFunc(out, func(f CheckpointFile) bool { return len(f.List) > 0 }) {
		return files, nil
	}
	for _, f := range others {
		v.note("%s holds %d checkpoints of a record in another database: they do not count here unless --checkpoint "+
			"names the file", f.Path, len(f.List))
	}
	return out, nil
}

// counts reports whether the checkpoints in f are of the record at a place for which the file's node
// first signed at began, 0 = never. What the node signed elsewhere before that, and is continued here,
// is this record's past: it was moved. Nodes share a server's database. Elsewhere what another node
// signed counts if the record holds its first checkpoint: it was moved to this node. own says that the
// record holds this node's; if not, another node's are all there is to tell.
func (v *verifying) counts(f CheckpointFile, at Origin, began int64, own bool) (bool, error) {
	if len(f.List) == 0 {
		return true, nil
	}
	first, server := f.List[0], at.Place != "" && at.Place != AnyPlace
	here := at.Place == AnyPlace || samePlace(f.place(), at.Place)
	switch {
	case here && server:
		return true, nil
	case !here && began != 0 && first.At >= began:
		return false, nil
	case !here && f.place() != "", own && first.Node != at.Node:
		return holdsLeaf(v.tx, first.Size(), first.Leaf)
	}
	return true, nil
}
