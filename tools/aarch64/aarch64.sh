#!/usr/bin/env bash
# Compiles unit tests for aarch64 with Debian's cross compiler and runs them
# under qemu. cross_test.py gets the arguments.
#
# The libraries' headers and archives are those of Debian's arm64 packages,
# unpacked in a folder of their own: the machine's own packages stay unchanged.
#
#   FOOTPRINT_AARCH64   the folder, .cache/aarch64 unless given
set -euo pipefail
cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.."
. tools/shell_functions.sh

FOLDER=$(realpath -m "${FOOTPRINT_AARCH64:-.cache/aarch64}")
readonly FOLDER
readonly TARGET_PACKAGES=(libabsl-dev libhwy-dev libhwy1 libeigen3-dev nlohmann-json3-dev)
# Rooms that can have a test without jemalloc, protocol buffers and io_uring.
readonly ROOMS=(//base/... //lowmem/... //memo/... //profiling/... //trainer_manager/...)

# Runs apt for arm64 with its own package lists.
apt_for_target() {
  APT_CONFIG=$FOLDER/apt/apt.conf apt-get "$@"
}

make_sysroot() {
  [[ -e $FOLDER/sysroot/usr/include/hwy/highway.h ]] && return
  local mirror codename
  mirror=$(bash tools/modern/debian_mirror.sh)
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && printf '%s' "$VERSION_CODENAME")
  mkdir -p "$FOLDER"/apt/lists/partial "$FOLDER"/apt/cache/archives/partial
  : >"$FOLDER/apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $codename main" \
    >"$FOLDER/apt/sources.list"
  cat >"$FOLDER/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$FOLDER/apt";
Dir::State::lists "$FOLDER/apt/lists";
Dir::State::status "$FOLDER/apt/status";
Dir::Cache "$FOLDER/apt/cache";
Dir::Etc::SourceList "$FOLDER/apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
END
  say "aarch64: fetching ${TARGET_PACKAGES[*]} for arm64 into $FOLDER"
  apt_for_target update
  apt_for_target install --download-only -y --no-install-recommends "${TARGET_PACKAGES[@]}"
  rm -rf "$FOLDER/sysroot.unfinished"
  local package
  for package in "${TARGET_PACKAGES[@]}"; do
    dpkg-deb --extract "$FOLDER/apt/cache/archives/$package"_*.deb "$FOLDER/sysroot.unfinished"
  done
  mv "$FOLDER/sysroot.unfinished" "$FOLDER/sysroot"
}

main() {
  need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
  need qemu-aarch64-static qemu-user-static
  make_sysroot
  bazel query --noshow_progress --noimplicit_deps --output=xml \
    "deps(set(${ROOMS[*]}))" >"$FOLDER/rules.xml" ||
    fail "bazel query failed: what tests are made of is not known"
  python3 -B tools/aarch64/cross_test.py --sysroot="$FOLDER/sysroot" \
    --not_emulated=tools/aarch64/not_emulated.txt \
    --output="$FOLDER/build" "$@" <"$FOLDER/rules.xml"
}

main "$@"
