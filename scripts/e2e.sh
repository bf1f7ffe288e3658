#!/usr/bin/env bash
# Runs real Claude Code, headless, against the real binary, with a scripted model
# on loopback behind it: no account, no key, no network once it is installed.
# Needs Go and npm; the client is installed, pinned, under .cache/.
set -euo pipefail
cd "$(dirname "$0")/.."

package=@anthropic-ai/claude-code version=2.1.329
cache=$PWD/.cache/e2e
client=$cache/node_modules/$package

missing() {
  echo "e2e: $1, so nothing was run" >&2
  [ -z "${CI:-}" ] || exit 1
  exit 0
}

command -v npm > /dev/null || missing "there is no npm to install Claude Code with"
mkdir -p "$cache"
if [ "$(cat "$cache/installed" 2>/dev/null)" != "$package@$version" ]; then
  echo "installing $package@$version"
  [ -f "$cache/package.json" ] || echo '{"private": true}' > "$cache/package.json"
  npm i --prefix "$cache" --no-audit --no-fund --loglevel=error --ignore-scripts "$package@$version" ||
    missing "Claude Code cannot be installed"
  # Puts the program for this machine in its place, which the package's own
  # script would do if scripts were allowed to run.
  node "$client/install.cjs" || missing "Claude Code cannot be set up"
  echo "$package@$version" > "$cache/installed"
fi
binary=$client/bin/claude.exe
"$binary" --version > /dev/null 2>&1 || missing "Claude Code does not start"

CORDELIA_CLAUDE=$binary go test -tags e2e -count 1 -timeout 3m -v ./internal/e2e
