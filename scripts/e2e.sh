#!/usr/bin/env bash
# Runs real clients against the real binary, headless and at a terminal, with scripted
# models on loopback behind them, and its pages in a real browser: no account, no key, no
# network once they are installed. Needs Go, npm and Chromium; the clients are installed,
# pinned, under .cache/.
set -euo pipefail
cd "$(dirname "$0")/.."

claude=@anthropic-ai/claude-code codex=@openai/codex gemini=@google/gemini-cli axe=axe-core
packages=("$claude@2.1.329" "$codex@0.169.0" "$gemini@0.61.0" "$axe@4.14.1")
cache=$PWD/.cache/e2e
modules=$cache/node_modules

missing() {
  echo "e2e: $1, so nothing was run" >&2
  [ -z "${CI:-}" ] || exit 1
  exit 0
}

command -v npm > /dev/null || missing "there is no npm to install the clients with"
CORDELIA_CHROMIUM=$(command -v chromium) || missing "there is no chromium to open the pages in"
export CORDELIA_CHROMIUM CORDELIA_AXE=$modules/$axe/axe.min.js
mkdir -p "$cache"
if [ "$(cat "$cache/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  echo "installing ${packages[*]}"
  [ -f "$cache/package.json" ] || echo '{"private": true}' > "$cache/package.json"
  npm i --prefix "$cache" --no-audit --no-fund --loglevel=error --ignore-scripts "${packages[@]}" ||
    missing "the clients cannot be installed"
  # Puts the program for this machine in its place, which the package's own
  # script would do if scripts were allowed to run.
  node "$modules/$claude/install.cjs" || missing "Claude Code cannot be set up"
  echo "${packages[*]}" > "$cache/installed"
fi
export CORDELIA_CLAUDE=$modules/$claude/bin/claude.exe CORDELIA_CODEX=$modules/.bin/codex CORDELIA_GEMINI=$modules/.bin/gemini
for client in "$CORDELIA_CLAUDE" "$CORDELIA_CODEX" "$CORDELIA_GEMINI"; do
  HOME=$cache "$client" --version > /dev/null 2>&1 || missing "$client does not start"
done

go test -tags e2e -count 1 -timeout 45m -v ./internal/proof/e2e
