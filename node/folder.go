package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// Folder names a folder alike however it is reached: absolute, links resolved, /
// between names, and in lower case where its file system does not tell cases
// apart. Errors: CodeNotFound if there is no such folder.
func Folder(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err == nil {
		whole, err = filepath.EvalSymlinks(whole)
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(whole)
	}
	if err != nil || !info.IsDir() {
		return "", schemas.NotFoundf("there is no folder %s",
			path).Try("name one that is there, or go there first").Because(err)
	}
	return folded(whole, sameFile), nil
}

// sameFile reports whether both names are of one directory entry.
func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// folded asks of each name in path whether it is the same in other letters. A
// disk of either kind may be mounted in one of the other.
func folded(path string, same func(a, b string) bool) string {
	volume := filepath.VolumeName(path)
	at, out := volume+string(filepath.Separator), strings.ToLower(filepath.ToSlash(volume))
	for name := range strings.SplitSeq(path[len(volume):], string(filepath.Separator)) {
		if name == "" {
			continue
		}
		other := strings.ToUpper(name)
		if other == name {
			other = strings.ToLower(name)
		}
		here := filepath.Join(at, name)
		if other != name && same(here, filepath.Join(at, other)) {
			name = strings.ToLower(name)
		}
		at, out = here, out+"/"+name
	}
	if !strings.Contains(out, "/") { // a root: / or c:/
		out += "/"
	}
	return out
}

// Bind binds a folder to a group for the person and all their agents.
func (n *Node) Bind(ctx context.Context, person access.Principal, path string,
	group schemas.GroupID) (b memory.Binding, err error) {
	dir, err := Folder(path)
	if err != nil {
		return b, err
	}
	op := access.Op{Tool: "memory_bind", Effect: access.Write, Human: true}
	err = n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		b, err = memory.Bind(g, dir, group)
		return err
	})
	return b, err
}

// Unbind ends the binding of a folder, which may be gone: then path is what
// Bindings calls it.
func (n *Node) Unbind(ctx context.Context, person access.Principal, path string) (dir string, err error) {
	dir, err = Folder(path)
	if errors.Is(err, schemas.ErrNotFound) {
		dir, err = filepath.Abs(path)
		dir = filepath.ToSlash(dir)
	}
	if err != nil {
		return "", fmt.Errorf("name folder: %w", err)
	}
	op := access.Op{Tool: "memory_unbind", Effect: access.Destroy, Human: true}
	return dir, n.Auth.Do(ctx, person, op, func(g access.Grant) error { return memory.Unbind(g, dir) })
}

// Bindings lists the folders the person has bound.
func (n *Node) Bindings(ctx context.Context, person access.Principal) (list []memory.Binding, err error) {
	op := access.Op{Tool: "memory_bindings", Effect: access.Read, Human: true}
	err = n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		list, err = memory.Bindings(g)
		return err
	})
	return list, err
}
