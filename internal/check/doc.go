// Package check finds out whether a machine check holds, on files below folders
// the operator names.
//
// It opens files through os.Root, so neither dots nor links lead out of those
// folders; reads regular files alone, up to a size and for a time; and tells
// whether the check holds and nothing of what it read. What it cannot find out
// is an error, never an answer.
package check
