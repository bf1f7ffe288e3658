package main

import (
	"go/ast"
	"regexp"
	"strings"
)

// left are words that this code once had for what the field has words for. As names they
// are counted whole; names inside longer names, stored values and texts are not.
var left = words(`bell ring rung doorbell deafen marks torn tear mend unlooked lookEvery mostWaiting mostLogged
	Outdate outdate untold settle Later soon giveBack kin unaided Unaided skim sentry glance attend mindful twin said truth
	lane rests fits apartFrom book byOtherOne notary voucher foresee hidings picked muteSpeakers spread
	saturation lengthShare Matter meddle homestead Beside beside
	hold holds reach stands tell`)

// coined are those that no reader knows; they are counted in comments, too.
var coined = words(`doorbell deafen unlooked untold unaided skim sentry mindful twin voucher notary foresee hidings
	muteSpeakers lengthShare homestead meddle kin`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

var word = regexp.MustCompile(`[A-Za-z]+`)

// use is a word of left in a package.
type use struct{ pkg, word string }

// count adds the uses of left in a file: names that are declared there, and comments.
func count(pkg string, f *ast.File, into map[use]int) {
	declared := func(names ...*ast.Ident) {
		for _, n := range names {
			if n != nil && left[n.Name] {
				into[use{pkg, n.Name}]++
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			declared(n.Name)
		case *ast.TypeSpec:
			declared(n.Name)
		case *ast.ValueSpec:
			declared(n.Names...)
		case *ast.Field:
			declared(n.Names...)
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if name, ok := e.(*ast.Ident); ok && n.Tok.String() == ":=" {
					declared(name)
				}
			}
		}
		return true
	})
	for _, group := range f.Comments {
		for _, w := range word.FindAllString(group.Text(), -1) {
			if coined[w] {
				into[use{pkg, w}]++
			}
		}
	}
}
