//go:build !linux && !darwin

package run

import (
	"errors"

	"cordelia/schemas"
)

// Shielded says why there is no shield.
func Shielded() (enforced, open []string, err error) {
	return nil, nil, schemas.Errorf(schemas.CodeUnavailable, "workers are confined on Linux and macOS only").
		Try("say --sandbox none: workers then reach what you can")
}

// TryShield says why there is no shield.
func TryShield() error {
	_, _, err := Shielded()
	return err
}

// become runs nothing: there is no way to give up rights here.
func become(Shield, string, []string) error { return errors.New("there is no sandbox on this system") }
