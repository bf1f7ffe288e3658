#!/usr/bin/env bash
# What luck decides, in full: one package after the other, one line of figures
# for each test; then the fuzzing. Without the race detector, which `make test`
# has: here the number of rounds counts.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORDELIA_SOAK=${CORDELIA_SOAK:-10}
# Every package with such tests; internal/archtest sees to it that none is left out.
packages=(./internal/store ./events ./access ./work ./memory ./pipeline/controller ./ops ./mcp ./cmd/cordelia ./internal/proof/scenario)
"${GO:-go}" test -p 1 -count 1 -timeout 0 -v "${packages[@]}" "$@" |
  grep -Ev '^(=== |PASS$)|^ *--- PASS: .* \(0\.[0-9]+s\)$'
GO="${GO:-go}" scripts/fuzz.sh # FUZZTIME each, 10m unless told otherwise
