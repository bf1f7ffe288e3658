#!/usr/bin/env bash
# Makes the release in dist/ once more, from a copy of the source in another folder,
# with nothing built before, and compares every byte. Needs Go alone.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
shift
[ -f dist/SHA256SUMS ] || { echo "reproduce: there is no dist/SHA256SUMS; run: make release" >&2; exit 1; }

elsewhere=$(mktemp -d)
trap 'chmod -R u+w "$elsewhere" && rm -rf "$elsewhere"' EXIT
mkdir "$elsewhere/source"
find . -mindepth 1 -maxdepth 1 ! -name '.git' ! -name '.cache' ! -name bin ! -name dist -exec cp -R {} "$elsewhere/source" \;
(cd "$elsewhere/source" && GOCACHE="$elsewhere/built" "${GO:-go}" run ./internal/proof/release -version "$version" -out ../again "$@")
for name in dist/*; do
  cmp "$name" "$elsewhere/again/${name#dist/}"
done
cmp dist/SHA256SUMS "$elsewhere/again/SHA256SUMS"
echo "the same, byte for byte: $(wc -l < dist/SHA256SUMS) files"
