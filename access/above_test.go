package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An agent is trusted no more than an agent above it that is below Medium, whoever of the line it is.
func TestAnAgentIsTrustedNoMoreThanThoseAboveIt(t *testing.T) {
	const person = schemas.EntityID("person")
	for name, tt := range map[string]struct{ top, middle, own, want schemas.Tier }{
		"each is medium":        {schemas.Medium, schemas.Medium, schemas.Medium, schemas.Medium},
		"a medium parent":       {schemas.High, schemas.Medium, schemas.High, schemas.High},
		"a low parent":          {schemas.Medium, schemas.Low, schemas.High, schemas.Low},
		"a low grandparent":     {schemas.Low, schemas.High, schemas.Medium, schemas.Low},
		"its own is the lowest": {schemas.Low, schemas.Low, schemas.Untrusted, schemas.Untrusted},
		"the lowest of two":     {schemas.Low, schemas.Untrusted, schemas.High, schemas.Untrusted},
	} {
		c := newChain([]entity{{ID: person, Human: true}, {ID: "top"}, {ID: "middle"}, {ID: "own"}})
		c.tiers = make([][]Tiering, 4)
		for i, tier := range []schemas.Tier{tt.top, tt.middle, tt.own} {
			c.tiers[i+1] = []Tiering{{Observer: person, Tier: tier}}
		}
		got, _ := c.tier(person, 0)
		require.Equal(t, tt.want, got, name)
	}
}
