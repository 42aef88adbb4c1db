#!/usr/bin/env bash
# Tests debian_mirror.sh with apt's settings from different images: apt reads a
# folder of this test instead of /etc/apt.
set -uo pipefail
readonly SCRIPT=tools/modern/debian_mirror.sh
readonly APT=$TEST_TMPDIR/apt
failures=0

# Adds the lists that `apt-get update` leaves for an archive, suite and label.
add_lists() {
  local prefix=$APT/lists/$1_dists_$2 label=$3
  printf 'Origin: %s\nLabel: %s\nSuite: %s\nCodename: %s\n' \
    "$label" "$label" "$2" "$2" >"${prefix}_Release"
  : >"${prefix}_main_binary-$(dpkg --print-architecture)_Packages"
}

new_machine() {
  rm -rf "$APT"
  mkdir -p "$APT/etc/sources.list.d" "$APT/parts" "$APT/lists"
  cat >"$APT/apt.conf" <<END
Dir::Etc "$APT/etc";
Dir::Etc::Parts "$APT/parts";
Dir::State::lists "$APT/lists";
END
  export APT_CONFIG=$APT/apt.conf
}

expect_mirror() {
  local situation=$1 wanted=$2 found status=0
  found=$(bash "$SCRIPT" 2>"$APT/errors") || status=$?
  [[ $status == 0 && $found == "$wanted" ]] && return
  echo "FAILED: $situation: exit $status, '$found', wanted '$wanted'" >&2
  cat "$APT/errors" >&2
  failures=$((failures + 1))
}

new_machine
cat >"$APT/etc/sources.list.d/debian.sources" <<'END'
Types: deb
URIs: http://mirror.invalid/debian
Suites: bookworm
Components: main
END
add_lists mirror.invalid_debian bookworm Debian
expect_mirror "an image without sources.list and *.list" http://mirror.invalid/debian/

new_machine
echo 'deb [trusted=yes] http://mirror.invalid/debian bookworm main' >"$APT/etc/sources.list"
add_lists mirror.invalid_debian bookworm Debian
expect_mirror "a machine with sources.list alone" http://mirror.invalid/debian/

new_machine
echo 'deb http://other.invalid/apt bookworm main' >"$APT/etc/sources.list.d/another.list"
cat >"$APT/etc/sources.list.d/debian.sources" <<'END'
Types: deb
URIs: http://mirror.invalid/debian-security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://mirror.invalid/debian
Suites: bookworm
Components: main
END
add_lists other.invalid_apt bookworm Other
add_lists mirror.invalid_debian-security bookworm-security Debian-Security
add_lists mirror.invalid_debian bookworm Debian
expect_mirror "archives of others before Debian's" http://mirror.invalid/debian/

new_machine
status=0
bash "$SCRIPT" >"$APT/output" 2>"$APT/errors" || status=$?
if [[ $status != 2 ]] || ! grep -q 'apt knows no Debian archive' "$APT/errors"; then
  echo "FAILED: no archive: exit $status, wanted 2 and a message" >&2
  failures=$((failures + 1))
fi

((failures == 0))
