package events

import (
	"cmp"
	"fmt"
	"slices"

	"cordelia/internal/merkle"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Verified is what Verify found.
type Verified struct {
	Entries     int64      `json:"entries"`
	Root        string     `json:"root"`        // base64, of the tree over all entries that fit
	Erased      int64      `json:"erased"`      // entries whose detail was erased, which is no damage
	Checkpoints int        `json:"checkpoints"` // that are sound by themselves
	Holding     int        `json:"holding"`     // of those, that this record continues
	Left        int        `json:"left"`        // of those, on a branch that a restore left
	Covered     int64      `json:"covered"`     // entries that a checkpoint holds
	Messages    int64      `json:"messages"`    // between roles, that are what the record says of them
	Deep        *Deep      `json:"deep,omitempty"`
	Nodes       []string   `json:"nodes"` // whose keys signed, in the order of size
	Forks       []ForkNote `json:"forks"`
	Notes       []string   `json:"notes"`
	Damage      []Damage   `json:"damage"`
}

// Deep counts what is in force and is what the record says of it.
type Deep struct {
	Items    int64 `json:"items"`
	Members  int64 `json:"members"`
	Agents   int64 `json:"agents"`
	Releases int64 `json:"releases"`
	Unproven int64 `json:"unproven"` // of which the record says too little, being older, or erased
}

// ForkNote is a restore, for a person to recognise.
type ForkNote struct {
	Entry int64  `json:"entry"`
	At    string `json:"at"`
	From  int64  `json:"from"`  // last entry both branches share
	Until int64  `json:"until"` // last entry of the branch that was left; 0 = not known, or there was none
	Left  string `json:"left"`  // which entries it left, in words
}

// Sound reports whether nothing was found.
func (v Verified) Sound() bool { return len(v.Damage) == 0 }

// Verify checks the record at place, as store.Place says it, against itself, entry by entry,
// and against every checkpoint in files that was signed for it. Of damage in the record it names
// the first place; a tree that was made anew shows between which checkpoints.
// Files of one name hold the same node's checkpoints. What it cannot read is an
// error.
func Verify(tx *store.Tx, place string, files []CheckpointFile) (Verified, error) {
	v := &verifying{tx: tx, Verified: Verified{Nodes: []string{}, Forks: []ForkNote{}, Notes: []string{},
		Damage: []Damage{}}}
	files, err := v.ofThisRecord(files, place)
	if err != nil {
		return v.Verified, err
	}
	v.gather(files)
	if err := v.walk(); err != nil {
		return v.Verified, err
	}
	if err := v.compare(); err != nil {
		return v.Verified, err
	}
	return v.Verified, nil
}

type verifying struct {
	Verified
	tx    *store.Tx
	all   []Checkpoint // of all files, each once, by size
	roots map[int64]merkle.Hash
	leaf  map[int64]merkle.Hash
	forks []RecordedFork

	broken bool // the walk ended early
}

func (v *verifying) damage(kind Tampering, from, until int64, format string, args ...any) {
	v.Damage = append(v.Damage, Damage{kind, from, until, fmt.Sprintf(format, args...)})
}

func (v *verifying) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// gather puts the checkpoints of all files together, and finds what is wrong with
// them alone.
func (v *verifying) gather(files []CheckpointFile) {
	known := map[merkle.Hash]bool{}
	next := map[merkle.Hash]Checkpoint{} // by the id of the one before
	for _, f := range files {
		for _, bad := range f.Bad {
			v.damage(Forged, 0, 0, "a checkpoint was changed or forged: %s", bad)
		}
		if f.Torn > 0 {
			v.note("%s holds %d checkpoints that were begun and not finished", f.Path, f.Torn)
		}
		for _, c := range f.List {
			if known[c.id()] {
				continue
			}
			known[c.id()], next[c.After] = true, c
			v.all = append(v.all, c)
			if c.Break {
				v.note("the checkpoint of %s (entry %d) says that the record did not continue the one before it",
					stamp(c.At), c.Size())
			}
		}
	}
	for _, f := range files {
		v.complete(f, next)
	}
	slices.SortStableFunc(v.all, func(a, b Checkpoint) int {
		return cmp.Or(cmp.Compare(a.Size(), b.Size()), cmp.Compare(a.At, b.At))
	})
	v.Checkpoints = len(v.all)
	for _, c := range v.all {
		if !slices.Contains(v.Nodes, string(c.Node)) {
			v.Nodes = append(v.Nodes, string(c.Node))
		}
	}
}

// complete finds checkpoints that a file should hold and does not.
func (v *verifying) complete(f CheckpointFile, next map[merkle.Hash]Checkpoint) {
	if len(f.List) == 0 {
		return
	}
	here := map[merkle.Hash]bool{{}: true} // before the first is none
	for _, c := range f.List {
		here[c.id()] = true
	}
	for _, c := range f.List {
		if !here[c.After] {
			v.damage(Missing, 0, 0, "in %s the checkpoint before the one of %s (entry %d) is missing: it was "+
				"removed or changed", f.Path, stamp(c.At), c.Size())
		}
	}
	end := f.List[len(f.List)-1]
	if c, ok := next[end.id()]; ok && !here[c.id()] {
		v.damage(Missing, 0, 0, "%s ends with the checkpoint of entry %d, and another copy goes on to entry %d: it "+
			"was rolled back, or could not be written", f.Path, end.Size(), c.Size())
	}
}

// walk reads the record once: hashes, the tree, and the restores it tells of.
func (v *verifying) walk() error {
	wanted := map[int64]bool{}
	for _, c := range v.all {
		wanted[c.Size()] = true
	}
	v.roots, v.leaf = map[int64]merkle.Hash{}, map[int64]merkle.Hash{}
	var edge merkle.Edge
	entries, last, err := walk(v.tx, func(l storedLeaf) error {
		sum, err := leafHash(l.sum)
		if err != nil {
			return err
		}
		edge.Append(sum)
		if wanted[l.Seq] {
			v.roots[l.Seq], v.leaf[l.Seq] = edge.Root(), sum
		}
		if l.detail == nil && !slices.Equal(l.detailHash, NoDetail()) {
			v.Erased++
		}
		if l.Action == RestoreAction && l.Target == RestoreTarget && l.Actor == nodeActor {
			v.fork(l)
		}
		return nil
	})
	v.Entries = entries
	root := edge.Root()
	v.Root = encode(root[:])
	if err == nil {
		return nil
	}
	d, err := locate(v.tx, entries, last, err)
	if d != nil {
		v.broken, v.Damage = true, append(v.Damage, *d)
	}
	return err
}

// nodeActor is who records a restore: the node itself.
const nodeActor schemas.EntityID = "node"

func (v *verifying) fork(l storedLeaf) {
	f := RecordedFork{Seq: l.Seq, At: l.At}
	if l.detail == nil || f.read(*l.detail) != nil {
		v.note("entry %d tells of a restore, and its detail was erased: which entries it left is not known", l.Seq)
		return
	}
	v.forks = append(v.forks, f)
	v.Forks = append(v.Forks, ForkNote{l.Seq, stamp(l.At), f.From, f.Until, f.Left})
}

func (v *verifying) matchesRecord(c Checkpoint) bool {
	root, ok := v.roots[c.Size()]
	return ok && root == c.Edge.Root() && v.leaf[c.Size()] == c.Leaf
}

// compare checks the checkpoints against the record.
func (v *verifying) compare() error {
	var rest []Checkpoint
	explained := []Fork{}
	for _, f := range v.forks {
		explained = append(explained, f.Fork)
	}
	for _, c := range v.all {
		if !v.matchesRecord(c) {
			rest = append(rest, c)
			continue
		}
		v.Holding++
		v.Covered = max(v.Covered, c.Size())
		if c.Fork != nil {
			explained = append(explained, *c.Fork)
		}
	}
	rest = v.leave(rest, explained)
	var beyond, wrong []Checkpoint
	for _, c := range rest {
		if c.Size() > v.Entries {
			beyond = append(beyond, c)
		} else {
			wrong = append(wrong, c)
		}
	}
	if len(wrong) > 0 {
		if err := v.rewritten(wrong); err != nil {
			return err
		}
	}
	if len(beyond) > 0 && len(wrong) == 0 && !v.broken {
		last := beyond[len(beyond)-1]
		v.damage(Truncated, v.Entries+1, last.Size(),
			"audit entries %d to %d are missing: the checkpoint of %s has them, so they were cut off, or an older "+
				"copy of the database was put in its place", v.Entries+1, last.Size(), stamp(last.At))
	}
	return nil
}

// leave takes out the checkpoints of branches that restores left. A checkpoint
// on such a branch may tell of an earlier restore itself, which the record no longer does:
// a note does, since who can write the database can forge a restore's entry.
func (v *verifying) leave(rest []Checkpoint, explained []Fork) []Checkpoint {
	for again := true; again; {
		again = false
		rest = slices.DeleteFunc(rest, func(c Checkpoint) bool {
			if !slices.ContainsFunc(explained, func(f Fork) bool { return f.left(&c) }) {
				return false
			}
			v.Left++
			if c.Fork != nil {
				explained, again = append(explained, *c.Fork), true
				v.note("the checkpoint of %s (entry %d) is of a branch that a restore left, and tells of an earlier "+
					"restore, which left entries from %d on", stamp(c.At), c.Size(), c.Fork.From+1)
			}
			return true
		})
	}
	return rest
}

// rewritten says where the record departs from checkpoints it should hold.
func (v *verifying) rewritten(wrong []Checkpoint) error {
	first := wrong[0]
	from, until := int64(1), first.Size()
	for _, c := range v.all { // a later one is of the record as it was made anew
		if c.Size() < first.Size() && c.At <= first.At && v.matchesRecord(c) {
			from = c.Size() + 1
		}
	}
	agrees := from > 1
	sub := subtree(v.tx)
	for i, s := range first.Edge.Spans() {
		h, err := sub(s)
		if err != nil {
			return err
		}
		if h == first.Edge.Hashes[i] {
			agrees = true
			continue
		}
		from, until = max(from, s.From+1), s.To
		break
	}
	if !agrees && v.Holding == 0 {
		v.damage(Replaced, from, until, "the record holds none of the checkpoints, the first of %s: it was "+
			"replaced, or made anew from entry %d or later", stamp(first.At), from)
		return nil
	}
	v.damage(Rewritten, from, until, "audit entries %d to %d are not those that the checkpoint of %s was signed "+
		"for: they were changed, deleted or inserted, and what follows was made anew", from, until, stamp(first.At))
	return nil
}

func stamp(micros int64) string {
	return Checkpoint{At: micros}.Time().Format("2006-01-02T15:04:05Z")
}
