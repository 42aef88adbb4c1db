#!/usr/bin/env bash
# lowmem and its peers in less and less memory; see lowmem_peers.py, whose flags these
# are. Paths are relative to the folder in which the command was typed.
set -euo pipefail
exec python3 -B lowmem/peers/lowmem_peers.py "$@"
