package keys

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

var madeAt = time.Date(2026, 11, 20, 19, 43, 33, 123456789, time.UTC)

func agentFile(t testing.TB) File {
	t.Helper()
	id := newIdentity(t)
	return File{EntityID: id.ID(), Kind: Agent, CreatedAt: madeAt, Identity: id}
}

func passphrase(s string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(s), nil }
}

// neverAsk fails the test if a passphrase is asked for.
func neverAsk(t *testing.T) func() ([]byte, error) {
	return func() ([]byte, error) {
		t.Error("asked for a passphrase")
		return nil, errors.New("asked")
	}
}

func TestCreateThenLoad(t *testing.T) {
	agent, human := agentFile(t), agentFile(t)
	human.EntityID, human.Kind = "russell_wing", Human
	node := agentFile(t)
	node.Kind = Node
	// The id of an agent whose key was rotated is the hash of its first key.
	rotated, moved := agentFile(t), agentFile(t)
	rotated.Identity, rotated.KeySeq = newIdentity(t), 2
	moved.EntityID, moved.Kind, moved.KeySeq = "russell_wing", Human, 7
	for _, f := range []File{agent, human, node, rotated, moved} {
		path := filepath.Join(t.TempDir(), "a", "b", "entity.key")
		require.NoError(t, CreateFile(path, f, nil))
		got, err := LoadFile(path, neverAsk(t))
		require.NoError(t, err)
		require.Equal(t, f.EntityID, got.EntityID)
		require.Equal(t, f.Kind, got.Kind)
		require.Equal(t, max(f.KeySeq, 1), got.KeySeq)
		require.Equal(t, madeAt.Truncate(time.Microsecond), got.CreatedAt)
		require.Equal(t, f.Identity.seed(), got.Identity.seed())

		entries, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing temporary stays")
	}
}

func TestPassphrase(t *testing.T) {
	f := agentFile(t)
	path := filepath.Join(t.TempDir(), "agent.key")
	require.NoError(t, CreateFile(path, f, []byte("correct horse")))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"kdf":"$argon2id$v=19$m=65536,t=3,p=4$`)
	require.NotContains(t, string(raw), string(mustJSON(t, f.Identity.seed())))

	given := []byte("correct horse")
	got, err := LoadFile(path, func() ([]byte, error) { return given, nil })
	require.NoError(t, err)
	require.Equal(t, f.Identity.seed(), got.Identity.seed())
	require.Equal(t, make([]byte, len(given)), given, "the passphrase is cleared")

	_, err = LoadFile(path, nil)
	requireCode(t, schemas.CodeUnauthenticated, err)
	cancelled := errors.New("cancelled")
	_, err = LoadFile(path, func() ([]byte, error) { return nil, cancelled })
	require.ErrorIs(t, err, cancelled)
}

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// lockedFile is a cheap encrypted key file.
func lockedFile(t testing.TB) fileJSON {
	t.Helper()
	f := agentFile(t)
	j := plainFile(f)
	require.NoError(t, j.encrypt(f.Identity.seed(), []byte("pass"), kdf{memoryKiB: 8, passes: 1, lanes: 1}))
	return j
}

func plainFile(f File) fileJSON {
	return fileJSON{
		V: fileVersion, EntityID: f.EntityID, Kind: f.Kind, KeySeq: max(f.KeySeq, 1), CreatedAt: f.CreatedAt,
		KDF:       kdfNone,
		PublicKey: f.Identity.PublicKey(), EncPublicKey: f.Identity.EncPublicKey(), Body: f.Identity.seed(),
	}
}

// The header is associated data: what it says about the key cannot be changed
// by whoever can write the file but does not know the passphrase.
func TestLockedFileBindsItsHeader(t *testing.T) {
	good := lockedFile(t)
	_, err := decodeFile("f", mustJSON(t, good), passphrase("pass"))
	require.NoError(t, err)
	spaced, err := json.MarshalIndent(good, "", "   ")
	require.NoError(t, err)
	_, err = decodeFile("f", spaced, passphrase("pass"))
	require.NoError(t, err)
	_, err = decodeFile("f", mustJSON(t, good), passphrase("word"))
	requireCode(t, schemas.CodeUnauthenticated, err)

	for name, change := range map[string]func(*fileJSON){
		"kind":           func(j *fileJSON) { j.Kind = Node },
		"human":          func(j *fileJSON) { j.Kind, j.EntityID = Human, "russell_wing" },
		"key_seq":        func(j *fileJSON) { j.KeySeq = 2 },
		"created_at":     func(j *fileJSON) { j.CreatedAt = j.CreatedAt.Add(time.Hour) },
		"enc_public_key": func(j *fileJSON) { j.EncPublicKey = newIdentity(t).EncPublicKey() },
		"kdf":            func(j *fileJSON) { j.KDF = strings.Replace(j.KDF, "t=1", "t=2", 1) },
		"nonce":          func(j *fileJSON) { j.Nonce = append([]byte{j.Nonce[0] ^ 1}, j.Nonce[1:]...) },
		"body":           func(j *fileJSON) { j.Body = append([]byte{j.Body[0] ^ 1}, j.Body[1:]...) },
	} {
		t.Run(name, func(t *testing.T) {
			changed := good
			change(&changed)
			_, err := decodeFile("f", mustJSON(t, changed), passphrase("pass"))
			requireCode(t, schemas.CodeUnauthenticated, err)
		})
	}
}

// Everything here is refused before a passphrase is asked for.
func TestParseFileRefuses(t *testing.T) {
	for name, change := range map[string]func(plain, locked *fileJSON){
		"version 0":            func(p, _ *fileJSON) { p.V = 0 },
		"version 2":            func(p, _ *fileJSON) { p.V = 2 },
		"another's id":         func(p, _ *fileJSON) { p.EntityID = newIdentity(t).ID() },
		"slug for an agent":    func(p, _ *fileJSON) { p.EntityID = "russell_wing" },
		"agent id of a human":  func(p, _ *fileJSON) { p.Kind = Human },
		"no key number":        func(p, _ *fileJSON) { p.KeySeq = 0 },
		"second key of a node": func(p, _ *fileJSON) { p.Kind, p.KeySeq = Node, 2 },
		"slug, second key":     func(p, _ *fileJSON) { p.EntityID, p.KeySeq = "russell_wing", 2 },
		"prefix, second key":   func(p, _ *fileJSON) { p.EntityID, p.KeySeq = p.EntityID[:63], 2 },
		"unknown kind":         func(p, _ *fileJSON) { p.Kind = "root" },
		"another public key": func(p, _ *fileJSON) {
			p.PublicKey = newIdentity(t).PublicKey()
			p.EntityID = schemas.AgentIDFromKey(p.PublicKey)
		},
		"another encryption key": func(p, _ *fileJSON) { p.EncPublicKey = newIdentity(t).EncPublicKey() },
		"short seed":             func(p, _ *fileJSON) { p.Body = p.Body[1:] },
		"nonce without kdf":      func(p, _ *fileJSON) { p.Nonce = []byte{1} },
		"unknown kdf":            func(p, _ *fileJSON) { p.KDF = "scrypt" },
		"no kdf":                 func(p, _ *fileJSON) { p.KDF = "" },
		"short nonce":            func(_, l *fileJSON) { l.Nonce = l.Nonce[1:] },
		"short body":             func(_, l *fileJSON) { l.Body = l.Body[1:] },
		"argon2i":                func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "argon2id", "argon2i", 1) },
		"argon2 version":         func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "v=19", "v=16", 1) },
		"no passes":              func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "t=1", "t=0", 1) },
		"no lanes":               func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "p=1", "p=0", 1) },
		"too many lanes":         func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "p=1", "p=256", 1) },
		"sloppy number":          func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "m=8", "m=08", 1) },
		"short salt":             func(_, l *fileJSON) { l.KDF = l.KDF[:len(l.KDF)-2] },
		"memory above 1 GiB":     func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "m=8", "m=1048577", 1) },
		"more than 10 passes":    func(_, l *fileJSON) { l.KDF = strings.Replace(l.KDF, "t=1", "t=11", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			plain, locked := plainFile(agentFile(t)), lockedFile(t)
			wasPlain, wasLocked := mustJSON(t, plain), mustJSON(t, locked)
			change(&plain, &locked)
			for _, raw := range [][]byte{mustJSON(t, plain), mustJSON(t, locked)} {
				if string(raw) != string(wasPlain) && string(raw) != string(wasLocked) {
					_, err := decodeFile("f", raw, neverAsk(t))
					requireCode(t, schemas.CodeInvalid, err)
				}
			}
		})
	}

	good := string(mustJSON(t, plainFile(agentFile(t))))
	_, err := decodeFile("f", []byte(good), neverAsk(t))
	require.NoError(t, err)
	for name, raw := range map[string]string{
		"empty":         "",
		"null":          "null",
		"list":          "[" + good + "]",
		"unknown field": strings.Replace(good, `{"v"`, `{"w":1,"v"`, 1),
		"other case":    strings.Replace(good, `"kdf"`, `"KDF"`, 1),
		"repeated":      strings.Replace(good, `{"v"`, `{"kind":"human","v"`, 1),
		"wrong type":    strings.Replace(good, `"created_at":"2`, `"created_at":"x2`, 1),
		"second object": good + good,
		"cut":           good[:len(good)-1],
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeFile("f", []byte(raw), neverAsk(t))
			e := requireCode(t, schemas.CodeInvalid, err)
			require.NotEmpty(t, e.Hint)
		})
	}
}

func TestCreateFileNeverReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	first := agentFile(t)
	require.NoError(t, CreateFile(path, first, nil))
	requireCode(t, schemas.CodeConflict, CreateFile(path, agentFile(t), nil))
	got, err := LoadFile(path, nil)
	require.NoError(t, err)
	require.Equal(t, first.EntityID, got.EntityID)

	dangling := filepath.Join(t.TempDir(), "link.key")
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), dangling))
	requireCode(t, schemas.CodeConflict, CreateFile(dangling, first, nil))
}

// Of many first runs at once one makes the key, and all load the same.
func TestCreateFileRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "agent.key")
	var wg sync.WaitGroup
	made := make(chan schemas.EntityID, 8)
	for range cap(made) {
		f := agentFile(t)
		wg.Go(func() {
			if err := CreateFile(path, f, nil); err == nil {
				made <- f.EntityID
			} else if schemas.CodeOf(err) != schemas.CodeConflict {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, made, 1)
	got, err := LoadFile(path, nil)
	require.NoError(t, err)
	require.Equal(t, <-made, got.EntityID)
}

func TestCreateFileRefusesWhatLoadWould(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	for name, change := range map[string]func(*File){
		"no identity":  func(f *File) { f.Identity = Identity{} },
		"another's id": func(f *File) { f.EntityID = newIdentity(t).ID() },
		"no kind":      func(f *File) { f.Kind = "" },
	} {
		f := agentFile(t)
		change(&f)
		require.Error(t, CreateFile(path, f, nil), name)
		require.NoFileExists(t, path)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add(mustJSON(f, plainFile(agentFile(f))))
	f.Add(mustJSON(f, lockedFile(f)))
	f.Add([]byte(`{"v":1,"created_at":"9999-12-31T23:59:59-23:59"}`))
	f.Add([]byte(`{"v":1,"kdf":"$argon2id$v=19$m=4294967295,t=1,p=1$"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		j, k, err := parseFile("f", raw)
		if err != nil {
			requireCode(t, schemas.CodeInvalid, err)
			require.Empty(t, j.Body)
			return
		}
		if k != nil {
			require.LessOrEqual(t, k.memoryKiB, uint32(kdfMaxMemoryKiB))
			require.LessOrEqual(t, k.passes, uint32(kdfMaxPasses))
		}
		again, _, err := parseFile("f", mustJSON(t, j))
		require.NoError(t, err)
		header, err := j.header()
		require.NoError(t, err)
		sameHeader, err := again.header()
		require.NoError(t, err)
		require.Equal(t, header, sameHeader)
	})
}
