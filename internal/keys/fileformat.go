package keys

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	strictjson "github.com/go-json-experiment/json"
	"golang.org/x/crypto/chacha20poly1305"

	"cordelia/schemas"
)

const fileVersion = 1

// fileJSON is a key file: one JSON object. Bytes are base64.
type fileJSON struct {
	V            int              `json:"v"`
	EntityID     schemas.EntityID `json:"entity_id"`
	Kind         Kind             `json:"kind"`
	KeySeq       uint32           `json:"key_seq"`
	PublicKey    []byte           `json:"public_key"`
	EncPublicKey []byte           `json:"enc_public_key"`
	CreatedAt    time.Time        `json:"created_at"`
	KDF          string           `json:"kdf"`             // "none" or an argon2id PHC string
	Nonce        []byte           `json:"nonce,omitempty"` // 24 bytes, with argon2id only
	Body         []byte           `json:"body,omitempty"`  // the seed, encrypted with argon2id
}

// header gives the associated data: the file without its body, in this
// encoder's spelling, so that spaces and order in the file do not matter.
func (j fileJSON) header() ([]byte, error) {
	j.Body = nil
	return json.Marshal(j)
}

func encodeFile(f File, passphrase []byte) ([]byte, error) {
	if f.Identity.secret == nil {
		return nil, errors.New("create key file: no identity")
	}
	j := fileJSON{
		V:            fileVersion,
		EntityID:     f.EntityID,
		Kind:         f.Kind,
		KeySeq:       max(f.KeySeq, 1),
		PublicKey:    f.Identity.PublicKey(),
		EncPublicKey: f.Identity.EncPublicKey(),
		CreatedAt:    f.CreatedAt.UTC().Truncate(time.Microsecond),
		KDF:          kdfNone,
	}
	if err := checkEntity(j); err != nil {
		return nil, err
	}
	if len(passphrase) == 0 {
		j.Body = append([]byte(nil), f.Identity.seed()...)
		defer clear(j.Body)
	} else if err := j.encrypt(f.Identity.seed(), passphrase, newKDF()); err != nil {
		return nil, fmt.Errorf("create key file: %w", err)
	}
	raw, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("create key file: %w", err)
	}
	return append(raw, '\n'), nil
}

func (j *fileJSON) encrypt(seed, passphrase []byte, k kdf) error {
	j.KDF = k.String()
	j.Nonce = make([]byte, chacha20poly1305.NonceSizeX)
	rand.Read(j.Nonce)
	header, err := j.header()
	if err != nil {
		return err
	}
	key := k.derive(passphrase)
	defer clear(key)
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return err
	}
	j.Body = aead.Seal(nil, j.Nonce, seed, header)
	return nil
}

func decodeFile(path string, raw []byte, askPassphrase func() ([]byte, error)) (File, error) {
	j, k, err := parseFile(path, raw)
	if err != nil {
		return File{}, err
	}
	defer clear(j.Body)
	seed := j.Body
	if k != nil {
		if seed, err = j.decrypt(path, *k, askPassphrase); err != nil {
			return File{}, err
		}
		defer clear(seed)
	}
	id, err := FromSeed(seed)
	if err != nil {
		return File{}, damaged(path, "holds no seed")
	}
	if subtle.ConstantTimeCompare(id.PublicKey(), j.PublicKey) != 1 ||
		subtle.ConstantTimeCompare(id.EncPublicKey(), j.EncPublicKey) != 1 {
		id.Erase()
		return File{}, damaged(path, "names another public key than its private key has")
	}
	return File{EntityID: j.EntityID, Kind: j.Kind, KeySeq: j.KeySeq, CreatedAt: j.CreatedAt, Identity: id}, nil
}

// parseFile checks everything that can be checked without the passphrase, in
// particular what unlocking would cost. k is nil if the seed is not encrypted.
func parseFile(path string, raw []byte) (j fileJSON, k *kdf, err error) {
	var version struct {
		V int `json:"v"`
	}
	if strictjson.Unmarshal(raw, &version) != nil {
		return fileJSON{}, nil, damaged(path, "is not a JSON object with a version")
	}
	if version.V != fileVersion {
		return fileJSON{}, nil, damaged(path, fmt.Sprintf("has version %d", version.V)).
			Expecting("version %d", fileVersion).
			Try("upgrade cordelia: `cordelia version` tells what runs here")
	}
	defer func() {
		if err != nil {
			clear(j.Body)
			j = fileJSON{}
		}
	}()
	// the error may quote the body, so it is dropped
	if strictjson.Unmarshal(raw, &j, strictjson.RejectUnknownMembers(true)) != nil {
		return j, nil, damaged(path, "has fields that are unknown, repeated or of a wrong type")
	}
	if _, err := j.header(); err != nil { // a year beyond 9999
		return j, nil, damaged(path, "has an impossible created_at")
	}
	if err := checkEntity(j); err != nil {
		return j, nil, damaged(path, "is not in order").Because(err).With(
			schemas.Violation{Path: "/entity_id", Msg: err.Error()})
	}
	if j.KDF == kdfNone {
		if len(j.Nonce) != 0 || len(j.Body) != SeedSize {
			return j, nil, damaged(path, "does not hold one seed")
		}
		return j, nil, nil
	}
	parsed, err := parseKDF(path, j.KDF)
	if err != nil {
		return j, nil, err
	}
	if len(j.Nonce) != chacha20poly1305.NonceSizeX || len(j.Body) != SeedSize+chacha20poly1305.Overhead {
		return j, nil, damaged(path, "does not hold one encrypted seed")
	}
	return j, &parsed, nil
}

func (j fileJSON) decrypt(path string, k kdf, askPassphrase func() ([]byte, error)) ([]byte, error) {
	if askPassphrase == nil {
		return nil, schemas.Errorf(schemas.CodeUnauthenticated, "key file %s needs a passphrase", path).
			Try("run the command in a terminal, where it can ask for it")
	}
	passphrase, err := askPassphrase()
	if err != nil {
		return nil, fmt.Errorf("ask for the passphrase of %s: %w", path, err)
	}
	defer clear(passphrase)
	header, err := j.header()
	if err != nil {
		return nil, err
	}
	key := k.derive(passphrase)
	defer clear(key)
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, err
	}
	seed, err := aead.Open(nil, j.Nonce, j.Body, header)
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnauthenticated, "wrong passphrase, or key file %s was altered", path).
			Try("try again; if you are sure of the passphrase, put a backup of the file in its place")
	}
	return seed, nil
}

// checkEntity returns CodeInvalid unless the entity id fits the kind and, for
// the first key of an agent and a node's only one, is the hash of the key.
func checkEntity(j fileJSON) error {
	if j.KeySeq == 0 {
		return schemas.Invalidf("the number of the key is missing").Expecting("key_seq, from 1")
	}
	switch j.Kind {
	case Human:
		return schemas.CheckHumanID(string(j.EntityID))
	case Node:
		if j.KeySeq > 1 {
			return schemas.Invalidf("a node has one key, and this is number %d", j.KeySeq).Expecting("key_seq 1")
		}
	case Agent:
		if j.KeySeq > 1 {
			if !schemas.IsAgentID(string(j.EntityID)) {
				return schemas.Invalidf("the entity id is not an agent's").Expecting("64 characters of 0-9 a-f")
			}
			return nil
		}
	default:
		return schemas.Invalidf("a key of unknown kind %q", j.Kind).Expecting("%s, %s or %s", Human, Agent, Node)
	}
	if want := schemas.AgentIDFromKey(j.PublicKey); j.EntityID != want {
		return schemas.Invalidf("the entity id is not the hash of the public key").Expecting("%s", want)
	}
	return nil
}
