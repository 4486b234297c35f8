#!/usr/bin/env bash
# The layout of compose.yaml without containers: three workers and a crawl on one PostgreSQL database.
# Run it: examples/10-many-workers.sh postgres://sumi:PASSWORD@localhost/sumi https://example.com/ https://example.org/
# The database must exist, and be empty or made by Sumi-Ripple; the first worker makes the tables.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: $0 postgres://USER:PASSWORD@HOST/DATABASE URL..." >&2
  exit 2
fi
sumi=(node "$(dirname "$0")/../dist/sumi.js")

# Every option has a variable. A password in a variable does not appear in the list of processes.
export SUMI_STORE="$1"
shift

# A worker works on every run of the database, now and later. It can be on any machine.
workers=()
trap 'kill "${workers[@]}" 2>/dev/null || true' EXIT
for _ in 1 2 3; do
  "${sumi[@]}" worker --concurrency 8 --lease-seconds 10 --drain-seconds 5 --quiet &
  workers+=($!)
done

# Starts a run and works on it like the workers; it ends when the run ends.
"${sumi[@]}" crawl "$@" --project many-workers --concurrency 8 --quiet

# SIGTERM: open requests finish, hosts are given back, and the exit code is 0.
kill -TERM "${workers[@]}"
for worker in "${workers[@]}"; do
  code=0
  wait "$worker" || code=$?
  echo "a worker ended with $code"
done
workers=()

"${sumi[@]}" workers --all
"${sumi[@]}" report
"${sumi[@]}" audit
