package store

import "testing"

func stopProcess(t *testing.T, _ *child)     { t.Skip("no job control on Windows") }
func continueProcess(t *testing.T, _ *child) { t.Helper() }
