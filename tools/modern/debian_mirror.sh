#!/usr/bin/env bash
# Prints the address of the Debian archive that this machine installs from, or
# says what is missing and exits with 2.
#
# It asks apt itself, since images differ in which of sources.list, *.list and
# *.sources exist, and in their format. Other archives, and Debian's own
# security archive, have another label than Debian's.
set -euo pipefail

# shellcheck disable=SC2016  # $(REPO_URI) is apt's.
mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian')
if [[ -z $mirrors ]]; then
  cat >&2 <<'END'
modern: apt knows no Debian archive on this machine.
  Name one in /etc/apt/sources.list or /etc/apt/sources.list.d/, run
  'apt-get update', and call this again.
END
  exit 2
fi
head -n 1 <<<"$mirrors"
