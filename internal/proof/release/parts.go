package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// bill lists what a program was built from, as the program itself says it:
// CycloneDX 1.6 (ECMA-424), one component per module and one for the standard
// library. It names no time, so it is the same for the same program.
func bill(info *debug.BuildInfo, version, platform string, program []byte) ([]byte, error) {
	main := component{Type: "application", Ref: "cordelia", Name: "cordelia", Version: version,
		Purl:       fmt.Sprintf("pkg:generic/cordelia@%s?platform=%s", version, platform),
		Hashes:     []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(program))}},
		Licences:   []licence{{map[string]string{"id": "Apache-2.0"}}},
		Properties: []property{{"go:version", info.GoVersion}, {"go:platform", platform}}}
	list := []component{library("stdlib", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, library(m.Path, m.Version, m.Sum))
	}
	uses := dependency{Ref: main.Ref}
	graph := []dependency{}
	for _, c := range list {
		uses.On = append(uses.On, c.Ref)
		graph = append(graph, dependency{Ref: c.Ref})
	}
	raw, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{"component": main}, "components": list,
		"dependencies": append([]dependency{uses}, graph...),
	}, "", "  ")
	return append(raw, '\n'), err
}

// component is a part, or the whole.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Purl       string     `json:"purl"` // package-url.org
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	License map[string]string `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn,omitempty"`
}

// library describes a module. Its sum is go.sum's: a hash over a list of the hashes
// of its files, so none that CycloneDX has a name for.
func library(path, version, sum string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: "library", Ref: purl, Name: path, Version: version, Purl: purl}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

// licences gives the licence texts of everything in a program: who hands out the
// program hands out those, too.
func licences(ctx context.Context, root string, info *debug.BuildInfo) ([]byte, error) {
	folders := []string{}
	names := []string{"The Go standard library, " + info.GoVersion}
	goroot, err := goSays(ctx, root, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	folders = append(folders, goroot)
	for _, m := range info.Deps {
		dir, err := goSays(ctx, root, "list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, err
		}
		folders, names = append(folders, dir), append(names, m.Path+" "+m.Version)
	}
	var b bytes.Buffer
	for i, dir := range folders {
		texts, err := licenceFiles(dir)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("%s has no licence in %s", names[i], dir)
		}
		for _, path := range texts {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "==== %s: %s\n\n%s\n\n", names[i], filepath.Base(path),
				bytes.TrimSpace(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))))
		}
	}
	return b.Bytes(), nil
}

// licenceFiles lists the files of a folder that hold terms.
func licenceFiles(dir string) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		word, _, _ := strings.Cut(strings.ToUpper(e.Name()), ".")
		word, _, _ = strings.Cut(word, "-")
		if !e.IsDir() && slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"}, word) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list, nil
}

func goSays(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
