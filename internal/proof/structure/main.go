package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// long is how many lines a function may have before it is counted.
const long = 50

// unit is a package as it is counted.
type unit struct {
	name              string
	files, tests      int
	lines, testLines  int // with code: neither blank nor comment
	imports, imported int // packages of this module
}

// function is a function and how many lines it has.
type function struct {
	place string
	lines int
}

type census struct {
	units     []*unit
	functions []function
	uses      map[use]int
}

func main() {
	if err := run("docs/structure.md"); err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	all, err := measure()
	if err != nil {
		return err
	}
	var b strings.Builder
	all.write(&b)
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	IgnoredGoFiles                     []string
	Imports                            []string
	Module                             struct{ Path string }
}

func measure() (c census, err error) {
	out, err := exec.Command("go", "list", "-json", "./...").Output()
	if err != nil {
		return c, fmt.Errorf("go list: %w", err)
	}
	c.uses = map[use]int{}
	by := map[string]*unit{}
	var imports [][2]string
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return c, err
		}
		u := &unit{name: strings.TrimPrefix(l.ImportPath, l.Module.Path+"/")}
		by[l.ImportPath] = u
		c.units = append(c.units, u)
		for _, i := range l.Imports {
			imports = append(imports, [2]string{l.ImportPath, i})
		}
		if err := c.files(u, l); err != nil {
			return c, err
		}
	}
	for _, i := range imports {
		if to := by[i[1]]; to != nil {
			by[i[0]].imports++
			to.imported++
		}
	}
	slices.SortFunc(c.functions, func(a, b function) int { return b.lines - a.lines })
	return c, nil
}

// files counts the files of a package, those of other systems too.
func (c *census) files(u *unit, l listed) error {
	for _, name := range slices.Concat(l.GoFiles, l.IgnoredGoFiles, l.TestGoFiles, l.XTestGoFiles) {
		raw, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_test.go") {
			u.tests++
			u.testLines += codeLines(raw)
			continue
		}
		u.files++
		u.lines += codeLines(raw)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, raw, parser.ParseComments)
		if err != nil {
			return err
		}
		count(u.name, f, c.uses)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
				if n > long {
					c.functions = append(c.functions, function{u.name + "." + fn.Name.Name, n})
				}
			}
		}
	}
	return nil
}

// codeLines counts the lines of a file that hold code.
func codeLines(raw []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(raw))
	var s scanner.Scanner
	s.Init(file, raw, nil, 0) // without comments
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		first := file.Line(pos)
		for i := range strings.Count(text, "\n") + 1 {
			if text != "\n" { // a semicolon that the end of a line stands for
				lines[first+i] = true
			}
		}
	}
}

func (c census) write(b *strings.Builder) {
	b.WriteString("# Structure\n\nAfter this page you know how large each package is, which lean on which, and where " +
		"functions are long. Written by\n`make structure`; do not edit. Lines are lines of code: neither blank nor " +
		"comment.\n\n## Packages\n\n| package | files | lines | test files | test lines | imports | imported by |\n" +
		"|---|---|---|---|---|---|---|\n")
	var sum, proof unit
	for _, u := range c.units {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d |\n", u.name, u.files, u.lines, u.tests, u.testLines,
			u.imports, u.imported)
		to := &sum
		if strings.HasPrefix(u.name, "internal/proof") || u.name == "internal/archtest" {
			to = &proof
		}
		to.files, to.lines, to.tests, to.testLines =
			to.files+u.files, to.lines+u.lines, to.tests+u.tests, to.testLines+u.testLines
	}
	fmt.Fprintf(b, "| **all that ships** | %d | %d | %d | %d | | |\n", sum.files, sum.lines, sum.tests, sum.testLines)
	fmt.Fprintf(b, "| **what only proves** | %d | %d | %d | %d | | |\n", proof.files, proof.lines, proof.tests,
		proof.testLines)
	fmt.Fprintf(b, "\n## Functions over %d lines\n\nThere are %d; the longest ten:\n\n| function | lines |\n|---|---|\n",
		long, len(c.functions))
	for _, f := range c.functions[:min(10, len(c.functions))] {
		fmt.Fprintf(b, "| %s | %d |\n", f.place, f.lines)
	}
	fmt.Fprintf(b, "\n## Words left behind\n\nNames that are declared, and words of comments, which plain language has "+
		"better ones for: %d pairs of package and word.\n", len(c.uses))
	if len(c.uses) == 0 {
		return
	}
	b.WriteString("\n| package | words |\n|---|---|\n")
	by := map[string][]string{}
	for u, n := range c.uses {
		by[u.pkg] = append(by[u.pkg], fmt.Sprintf("%s %d", u.word, n))
	}
	for _, u := range c.units {
		if list := by[u.name]; len(list) > 0 {
			slices.Sort(list)
			fmt.Fprintf(b, "| %s | %s |\n", u.name, strings.Join(list, ", "))
		}
	}
}
