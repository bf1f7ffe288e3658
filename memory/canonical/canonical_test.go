package canonical

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"cordelia/schemas"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// The examples RFC 8785 publishes: section 3.2.2 and 3.2.3.
func TestCanonicalRFC8785(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{
			`{
			  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			  "literals": [null, true, false]
			}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
			  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","` + "\u00f6" +
				`":"Latin Small Letter O With Diaeresis","` + "\u20ac" +
				`":"Euro Sign","` + "\U0001f600" + `":"Emoji: Grinning Face","` + "\ufb33" +
				`":"Hebrew Letter Dalet With Dagesh"}`,
		},
	} {
		got, err := JSON([]byte(c.in))
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}

// The number samples of RFC 8785, appendix B.
func TestCanonicalNumbersRFC8785(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		got, err := JSON(fmt.Appendf(nil, "%.17e", math.Float64frombits(bits)))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":           ``,
		"half":              `{"a":`,
		"two values":        `{} {}`,
		"duplicate":         `{"a":1,"a":2}`,
		"duplicate escaped": `{"a":1,"\u0061":2}`,
		"invalid UTF-8":     "\"\xff\"",
		"lone surrogate":    `"\ud800"`,
		"too large":         `[1e400]`,
		"not JSON":          `NaN`,
		"too deep":          strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := JSON([]byte(in))
			require.Error(t, err)
		})
	}
	_, err := JSON([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)))
	require.NoError(t, err)
}

func TestObjectKeepsNumbersExact(t *testing.T) {
	_, err := Object([]byte(
		`{"ok":9007199254740992,"a":{"b":[1,9007199254740993]},"c":12345678901234567890,"d":1e400}`))
	var paths []string
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, schemas.CodeInvalid, e.Code)
	for _, v := range e.Violations {
		paths = append(paths, v.Path)
	}
	require.Equal(t, []string{"/a/b/1", "/c", "/d"}, paths)
	for _, in := range []string{`[]`, `null`, `1`, `"x"`, ``, `{"a":1,"a":1}`} {
		_, err := Object([]byte(in))
		require.Error(t, err, in)
	}
}

// What has a canonical form means the same in it, and the form is its own.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.50,"\u00e9",null]}`, `{"\ud83d\ude00":1,"\ufb33":2}`, `-0`, `1e-7`,
		`123456789012345678901`, `{"a":1,"a":2}`, `"\u2028"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		form, err := JSON(in)
		if err != nil {
			return
		}
		again, err := JSON(form)
		require.NoError(t, err)
		require.True(t, bytes.Equal(form, again))
		var a, b any
		require.NoError(t, json.Unmarshal(in, &a))
		require.NoError(t, json.Unmarshal(form, &b))
		require.Equal(t, a, b)
		other, err := Of(a)
		require.NoError(t, err)
		require.Equal(t, string(form), string(other))
	})
}
