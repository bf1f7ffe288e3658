package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// saved is a result as it lies in the cache: shares as pairs.
type saved struct {
	Items         int
	Contamination [][2]float64
	Found         [][2]float64
	Shares        [][2]float64
}

// shares are the results that are one share each.
func (r *result) shares() []*share {
	return []*share{&r.shutOut, &r.demoted, &r.demotedAfter, &r.foundOut, &r.promoted, &r.promotedAfter, &r.brier}
}

// file is where the result of j lies in a cache.
func (j *job) file(cache string) string {
	name := fmt.Sprintf("%s %s %d.json", j.scenario.name, j.policy.name, j.seed)
	return filepath.Join(cache, strings.ReplaceAll(name, " ", "-"))
}

func pairs(list []share) (out [][2]float64) {
	for _, s := range list {
		out = append(out, [2]float64{s.n, s.of})
	}
	return out
}

func unpaired(list [][2]float64) (out []share) {
	for _, s := range list {
		out = append(out, share{s[0], s[1]})
	}
	return out
}

func (j *job) save(cache string) error {
	s := saved{Items: j.result.items, Contamination: pairs(j.result.contamination), Found: pairs(j.result.found)}
	for _, one := range j.result.shares() {
		s.Shares = append(s.Shares, [2]float64{one.n, one.of})
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	return os.WriteFile(j.file(cache), raw, 0o600)
}

// load reports whether the result was there.
func (j *job) load(cache string) (known bool, err error) {
	raw, err := os.ReadFile(j.file(cache))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var s saved
	if err := json.Unmarshal(raw, &s); err != nil {
		return false, fmt.Errorf("%s: %w", j.file(cache), err)
	}
	j.result = result{items: s.Items, contamination: unpaired(s.Contamination), found: unpaired(s.Found)}
	list := j.result.shares()
	if len(s.Shares) != len(list) {
		return false, fmt.Errorf("%s is of another version; remove it", j.file(cache))
	}
	for i, one := range list {
		*one = share{s.Shares[i][0], s.Shares[i][1]}
	}
	return true, nil
}
