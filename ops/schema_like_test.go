package ops

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// jsonNames are the names of a struct's fields in JSON, with those of structs inside it.
func jsonNames(t reflect.Type, prefix string) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, prefix+name)
		if f.Type.Kind() == reflect.Struct {
			names = append(names, jsonNames(f.Type, prefix+name+".")...)
		}
	}
	return names
}

// The members listed for slips are those that capabilities have.
func TestLikeCapabilitiesAreCapabilities(t *testing.T) {
	require.Equal(t, jsonNames(reflect.TypeFor[schemas.Capabilities](), ""),
		jsonNames(reflect.TypeFor[likeCapabilities](), ""))
}
