package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever prints them, and wherever they are nested, identities, key files and
// tokens show nothing of their secret.
func TestSecretsAreNeverPrinted(t *testing.T) {
	id := newIdentity(t)
	token, err := NewToken(rand.Reader, []byte("message"), id.Sign([]byte("message")))
	require.NoError(t, err)
	var spellings []string
	for _, secret := range [][]byte{id.seed(), []byte(token.Reveal())} {
		part := secret[8:16] // enough to tell, and found whatever surrounds it
		spellings = append(spellings,
			string(part), hex.EncodeToString(part), fmt.Sprintf("% x", part), fmt.Sprintf("%#x", part),
			strings.Trim(fmt.Sprint(part), "[]"), fmt.Sprintf("%q", part)[1:],
			strings.Join(strings.Split(strings.Trim(fmt.Sprintf("%#v", part), "[]byte{}"), ", "), ", "))
	}
	spellings = append(spellings, base64.StdEncoding.EncodeToString(id.seed())[:40], token.Reveal()[5:40])
	leaksNothing := func(how, out string) {
		t.Helper()
		for _, s := range spellings {
			require.NotContains(t, strings.ToLower(out), strings.ToLower(s), how)
		}
	}

	type hidden struct {
		id     Identity
		token  Token
		file   File
		idPtr  *Identity
		nested map[string]Identity
	}
	type exported struct {
		ID    Identity
		Token *Token
		File  File
	}
	file := File{EntityID: id.ID(), Kind: Agent, Identity: id}
	for _, value := range []any{
		id, &id, token, &token, file, &file,
		[]Identity{id}, map[string]Token{"t": token}, any(id),
		hidden{id, token, file, &id, map[string]Identity{"i": id}}, exported{id, &token, file},
		&exported{id, &token, file},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%b", "%o", "%c", "%U",
			"%e", "%t", "%p", "%T", "%z"} {
			leaksNothing(fmt.Sprintf("%T %s", value, verb), fmt.Sprintf(verb, value))
		}
		out, err := json.Marshal(value)
		require.NoError(t, err)
		leaksNothing(fmt.Sprintf("%T json", value), string(out))

		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", value)
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", value)
		leaksNothing(fmt.Sprintf("%T slog", value), log.String())

		err = fmt.Errorf("failed: %w", fmt.Errorf("with %v", value))
		leaksNothing(fmt.Sprintf("%T error", value), err.Error())
	}
	for _, v := range []any{id, &id, token, &token} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			require.Equal(t, "[secret]", fmt.Sprintf(verb, v))
		}
		require.Equal(t, "[secret]", slog.AnyValue(v).Resolve().Any())
		out, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, `"[secret]"`, string(out))
	}
	require.Equal(t, "[secret]", id.String())
	require.Equal(t, "[secret]", token.String())
}
