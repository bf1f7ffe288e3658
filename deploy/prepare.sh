#!/bin/sh
# Makes, once and as root, what compose.yaml mounts: passwords of the database's roles, a private
# authority with certificates of the database, the nodes and the proxy, and the folder of backups.
# The argument is the name by which clients reach the proxy.
set -eu
name=${1:?usage: prepare.sh NAME, the name by which clients reach the proxy}
folder=${FOLDER:-$(dirname "$0")}

# The users that the images run as, and further names in the certificates.
: "${CORDELIA_UID:=65532}" "${DATABASE_UID:=999}" "${PROXY_UID:=101}"
DATABASE_NAMES=DNS:db${DATABASE_NAMES:+,$DATABASE_NAMES}
NODE_NAMES=DNS:node${NODE_NAMES:+,$NODE_NAMES}
PROXY_NAMES=DNS:$name${PROXY_NAMES:+,$PROXY_NAMES}

umask 077
mkdir "$folder/secrets" || { echo "prepare.sh: the secrets are there already; keep them" >&2; exit 1; }
cd "$folder/secrets"
# What fails is shown, and leaves no secrets behind: the next try makes them all.
exec 3>&2 2>openssl.log
trap 'exit 130' INT TERM HUP
trap '[ $? = 0 ] || { cat openssl.log >&3; rm -rf "$PWD"; }' EXIT
chmod 711 .
mkdir -p ../backups
chown "$CORDELIA_UID" ../backups

# A password stands in one file of the database and in one of the node that uses it.
openssl rand -hex 32 >postgres.password
for role in owner writer reader; do
  openssl rand -hex 32 >$role.password
  echo "*:*:*:cordelia_$role:$(cat $role.password)" >$role.pgpass
done

# certificate NAME NAMES makes the key and the certificate of a server.
certificate() {
  echo "subjectAltName=$2" >"$1.names"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.request"
  openssl x509 -req -in "$1.request" -CA authority.crt -CAkey authority.key -CAcreateserial -days 825 \
    -extfile "$1.names" -out "$1.crt"
  rm "$1.names" "$1.request"
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=$name, authority" \
  -keyout authority.key -out authority.crt
certificate database "$DATABASE_NAMES"
certificate node "$NODE_NAMES"
certificate proxy "$PROXY_NAMES"

chmod 644 ./*.crt
chown "$DATABASE_UID" ./*.password database.key
chown "$CORDELIA_UID" ./*.pgpass node.key
chown "$PROXY_UID" proxy.key
rm openssl.log
