package ops

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every argument, nested ones too, says what it takes: in words, by its choices, or by
// the members it has.
func TestEveryArgumentSaysWhatItTakes(t *testing.T) {
	var walk func(path string, s *schema)
	walk = func(path string, s *schema) {
		for _, p := range s.properties {
			at := path + "." + p.name
			described := p.description != "" || len(p.enum) > 0 || p.items != nil && len(p.items.enum) > 0
			assert.True(t, described, at)
			walk(at, p.schema)
		}
		if s.items != nil {
			walk(path+"[]", s.items)
		}
	}
	for _, o := range Catalogue() {
		s, err := o.schemas()
		require.NoError(t, err)
		walk(o.Name, s.arguments)
	}
}

// What a client loads at once, and what it is offered, stay small.
func TestAlwaysLoadedToolsFitTheirBudget(t *testing.T) {
	loaded := 0
	for _, o := range Catalogue() {
		if o.AlwaysLoad {
			loaded += tokens(t, o)
		}
	}
	t.Log(loaded)
	require.LessOrEqual(t, loaded, 1700)
}
