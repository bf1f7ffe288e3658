#!/usr/bin/env bash
# Format, vet and staticcheck, for what is behind build tags, too. Needs Go alone.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(find . -name '*.go' -not -path './.*/*' -exec gofmt -l {} +)
if [ -n "$unformatted" ]; then
  printf 'not formatted (run gofmt -w):\n%s\n' "$unformatted" >&2
  exit 1
fi
for tags in "" testclock e2e; do
  packages=./...
  case $tags in testclock) packages=./cmd/... ;; e2e) packages=./internal/proof/e2e ;; esac
  go vet -tags "$tags" "$packages"
  go tool -modfile=tools/go.mod staticcheck -tags "$tags" "$packages"
done
