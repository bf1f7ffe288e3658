package access

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// vectors is testdata/capability_vectors.json; its in-flight cases need storage
// and are proved where the storage is.
type vectors struct {
	Tools       []string `json:"known_tools_for_these_vectors"`
	Containment []struct {
		ID, Expect, Note string
		Parent, Child    json.RawMessage
		Reasons          []string
	}
	Effective []struct {
		ID, Expect, Note string
		Chain            []struct {
			ID        schemas.EntityID
			Caps      json.RawMessage
			CreatedAt int64 `json:"created_at"` // seconds
			Status    schemas.AgentStatus
		}
		Op struct {
			Tool       string
			Kind       Kind
			Layer      schemas.Layer
			Visibility schemas.Visibility
			Group      schemas.GroupID
		}
		Now      int64
		DeniedBy []string `json:"denied_by"`
	}
}

func loadVectors(t *testing.T) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/capability_vectors.json")
	require.NoError(t, err)
	var v vectors
	require.NoError(t, json.Unmarshal(raw, &v))
	require.Len(t, v.Containment, 84)
	require.Len(t, v.Effective, 20)
	return v
}

// boundary reads "TOP" or a complete declaration.
func boundary(t *testing.T, raw json.RawMessage, tools []string) Boundary {
	t.Helper()
	if string(raw) == `"TOP"` {
		return Top()
	}
	d, err := ParseCapabilities(raw, tools)
	require.NoError(t, err)
	require.NotNil(t, d.TTLSeconds)
	return Bounded(d.Resolve(schemas.Custom, nil, 0))
}

func reasons(err error) []string {
	if r, ok := errors.AsType[Refusal](err); ok {
		return r.Reasons()
	}
	return []string{}
}

func TestContainmentVectors(t *testing.T) {
	v := loadVectors(t)
	for _, c := range v.Containment {
		t.Run(c.ID, func(t *testing.T) {
			chain := []ChainLink{{ID: "root", Boundary: Top(), Status: schemas.Active}}
			if parent := boundary(t, c.Parent, v.Tools); !parent.top {
				caps, _ := parent.Capabilities()
				chain = append(chain, ChainLink{ID: "p", Boundary: parent, Status: schemas.Active,
					ExpiresAt: ExpiresAt(0, caps.TTLSeconds)})
			}
			declared, err := ParseCapabilities(c.Child, v.Tools)
			if c.Expect == "invalid" {
				require.Equal(t, schemas.CodeInvalid, schemas.CodeOf(err), c.Note)
				require.Equal(t, c.Reasons, reasons(err), c.Note)
				return
			}
			require.NoError(t, err, c.Note)
			child := declared.Resolve(schemas.Custom, chain, 0)
			err = CheckRegistration(child, chain)
			require.Equal(t, c.Expect == "accept", err == nil, "%s: %v", c.Note, err)
			require.Equal(t, c.Reasons, reasons(err), c.Note)
			require.Equal(t, c.Reasons, Refusal(Within(child, chain[len(chain)-1].Boundary)).Reasons(), c.Note)
			if err != nil {
				require.Equal(t, schemas.CodeDenied, schemas.CodeOf(err))
			}
		})
	}
}

func TestEffectiveVectors(t *testing.T) {
	const second = 1_000_000
	v := loadVectors(t)
	for _, c := range v.Effective {
		t.Run(c.ID, func(t *testing.T) {
			var chain []ChainLink
			for _, l := range c.Chain {
				link := ChainLink{ID: l.ID, Boundary: boundary(t, l.Caps, v.Tools), Status: schemas.Active}
				if caps, ok := link.Boundary.Capabilities(); ok {
					link.ExpiresAt = ExpiresAt(l.CreatedAt*second, caps.TTLSeconds)
				}
				if l.Status != "" {
					link.Status = l.Status
				}
				chain = append(chain, link)
			}
			op := Operation{Tool: c.Op.Tool, Kind: c.Op.Kind, Layer: c.Op.Layer, Visibility: c.Op.Visibility,
				Group: c.Op.Group}
			got := []string{}
			for _, d := range Evaluate(chain, op, c.Now*second) {
				got = append(got, d.String())
			}
			require.Equal(t, c.DeniedBy, got, c.Note)
			require.Equal(t, c.Expect == "allow", len(got) == 0, c.Note)
		})
	}
}
