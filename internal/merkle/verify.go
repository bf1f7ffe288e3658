package merkle

import "errors"

var errProof = errors.New("merkle: the proof does not fit")

// CheckInclusion checks a proof of Inclusion against a root (RFC 9162 §2.1.3.2).
func CheckInclusion(proof []Hash, index, size int64, leaf, root Hash) error {
	if index < 0 || index >= size {
		return errOutside
	}
	at, last := index, size-1
	for _, h := range proof {
		if last == 0 {
			return errProof
		}
		if at&1 == 1 || at == last {
			leaf = node(h, leaf)
			for at&1 == 0 && at != 0 {
				at, last = at>>1, last>>1
			}
		} else {
			leaf = node(leaf, h)
		}
		at, last = at>>1, last>>1
	}
	if last != 0 || leaf != root {
		return errProof
	}
	return nil
}

// CheckConsistency checks a proof of Consistency against both roots (RFC 9162
// §2.1.4.2).
func CheckConsistency(proof []Hash, older, size int64, olderRoot, root Hash) error {
	if older < 1 || older > size {
		return errOutside
	}
	if older == size {
		if len(proof) != 0 || olderRoot != root {
			return errProof
		}
		return nil
	}
	if older&(older-1) == 0 { // the older tree is a subtree: its root begins the proof
		proof = append([]Hash{olderRoot}, proof...)
	}
	if len(proof) == 0 {
		return errProof
	}
	at, last := older-1, size-1
	for at&1 == 1 {
		at, last = at>>1, last>>1
	}
	was, is := proof[0], proof[0]
	for _, h := range proof[1:] {
		if last == 0 {
			return errProof
		}
		if at&1 == 1 || at == last {
			was, is = node(h, was), node(h, is)
			for at&1 == 0 && at != 0 {
				at, last = at>>1, last>>1
			}
		} else {
			is = node(is, h)
		}
		at, last = at>>1, last>>1
	}
	if last != 0 || was != olderRoot || is != root {
		return errProof
	}
	return nil
}
