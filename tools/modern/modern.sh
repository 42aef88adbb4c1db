#!/usr/bin/env bash
# Builds and runs every test under the Bazel of Debian sid, with MODULE.bazel.
#
# sid is a folder that debootstrap fills and that becomes the root of a mount
# namespace. (In a chroot the kernel refuses user namespaces, which the tests of
# sandboxes need.) The tree is copied into it. Bazel's output stays there, so a
# second run is incremental. The system determines the versions: the modules are
# sid's libraries, not the registry's. With --released only importers of the
# archive are tested.
#
#   FOOTPRINT_SID   the folder, /var/cache/footprint/sid unless given
# shellcheck disable=SC2016  # ${Package} is dpkg's, not the shell's.
set -euo pipefail
TREE=$(git -C "$(dirname "$(realpath "${BASH_SOURCE[0]}")")" rev-parse --show-toplevel)
readonly TREE
readonly SID=${FOOTPRINT_SID:-/var/cache/footprint/sid}
readonly PACKAGES=(
  bazel-bootstrap bazel-rules-cc bazel-skylib bazel-platforms bazel-features
  bazel-rules-proto bazel-rules-java bazel-rules-shell g++ clang git python3 python3-yaml zip file
  libabsl-dev libprotobuf-dev protobuf-compiler googletest libbenchmark-dev
  libjemalloc-dev libeigen3-dev zlib1g-dev python-matplotlib-data
  nlohmann-json3-dev liburing-dev libutf8proc-dev libpcre2-dev libhwy-dev libdw-dev libbz2-dev libzstd-dev
  libarchive-dev
  libsqlite3-dev libcpp-httplib-dev libssl-dev
  python3-clang
  python3-sarif-python-om python3-junitparser python3-prometheus-client
  python3-html5lib
)

say() { printf 'modern: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}
in_sid() {
  unshare --mount --propagation private sh -c '
    set -e
    mount --rbind "$1" "$1"
    cd "$1"
    mkdir -p .outside
    pivot_root . .outside
    umount -l /.outside
    shift
    cd /
    exec env -i PATH=/usr/sbin:/usr/bin HOME=/root LC_ALL=C.UTF-8 "$@"' sh "$SID" "$@"
}

# An unfinished folder of debootstrap has another name.
create() {
  [[ -x $SID/usr/bin/apt-get ]] && return
  command -v debootstrap >/dev/null || {
    say "installing debootstrap"
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap
  }
  local mirror
  mirror=$(bash "$TREE/tools/modern/debian_mirror.sh") || exit
  say "debootstrap of sid into $SID (about 1 GB, several minutes)"
  mkdir -p "$(dirname "$SID")"
  rm -rf --one-file-system "$SID.unfinished"
  debootstrap --variant=minbase sid "$SID.unfinished" "$mirror"
  mv "$SID.unfinished" "$SID"
}

attach() {
  mountpoint -q "$SID/proc" || mount -t proc proc "$SID/proc"
  mountpoint -q "$SID/dev" || mount --rbind /dev "$SID/dev"
  mountpoint -q "$SID/sys" || mount --rbind /sys "$SID/sys"
  cp -L /etc/resolv.conf /etc/hosts "$SID/etc/"
}

install_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    in_sid dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  say "installing into sid: ${missing[*]}"
  # A mirror that is a snapshot has expired lists.
  in_sid apt-get -o Acquire::Check-Valid-Until=false update
  in_sid DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# Copies the committed files and those that could be committed, but not the
# developer's own settings.
copy_tree() {
  rm -rf --one-file-system "$SID/footprint/tree"
  mkdir -p "$SID/footprint/tree"
  git -C "$TREE" ls-files -z --cached --others --exclude-standard --deduplicate |
    (cd "$TREE" && while IFS= read -r -d '' file; do
      [[ ! -e $file ]] || printf '%s\0' "$file"
    done) |
    tar -C "$TREE" --null --files-from=- -cf - | tar -C "$SID/footprint/tree" -xf -
  python3 "$TREE/tools/modern/materialise_modules.py" --tree="$TREE" --root="$SID" \
    --output=/footprint/modules --rc=/footprint/tree/installed_bazel.bazelrc
}

report() {
  say "Debian $(in_sid cat /etc/debian_version | cut -d/ -f2), in $SID, with:"
  in_sid dpkg-query -W -f='  ${Package} ${Version}\n' "${PACKAGES[@]}" >&2
  say "these stand in for the versions that MODULE.bazel asks of the public" \
    "registry; tools/dev registry tries the resolution from that registry"
}

# Runs `bazel test` in a workspace of the copied tree. The server outlives this
# script and must not inherit the lock.
bazel_test() {
  in_sid sh -c 'cd "/footprint/tree/$1" && shift &&
    exec bazel --output_user_root=/footprint/out test "$@"' sh "$@" 9>&-
}

# Tests importers that have only the archive of a release: of the whole module,
# and of one library alone. A module that is not in the graph must not be
# overridden, so each importer has the overrides of the modules that it needs.
test_released() {
  local folder=$SID/footprint/release importer status=0
  rm -rf --one-file-system "$folder"
  python3 -B "$TREE/tools/release/released_importer.py" --tree="$TREE" \
    --seen-as=/footprint/release "$folder" || return
  for importer in "$folder"/importer*; do
    importer=${importer##*/}
    say "importer of the archive: $importer"
    write_overrides "$folder" "$importer" >"$folder/$importer/installed_bazel.bazelrc"
    bazel_test "../release/$importer" //... || status=1
  done
  return "$status"
}

write_overrides() {
  local folder=$1 importer=$2 module line
  module=$(sed -n 's/^bazel_dep(name = "\(footprint[a-z_]*\)".*/\1/p' "$folder/$importer/MODULE.bazel")
  while IFS= read -r line; do
    [[ $line =~ --override_module=([^=]*)= ]] || {
      printf '%s\n' "$line"
      continue
    }
    case ${BASH_REMATCH[1]} in zlib | apple_support | buildozer) printf '%s\n' "$line" ;; esac
    grep -qhF "name = \"${BASH_REMATCH[1]}\"" "$folder/$importer/MODULE.bazel" \
      "$folder/registry/modules/$module"/*/MODULE.bazel && printf '%s\n' "$line"
  done <"$SID/footprint/tree/installed_bazel.bazelrc"
  echo "common --registry=file:///footprint/release/registry"
}

# Exact bytes are kept for Debian 12, so the expected verdict here is
# ENVIRONMENT_MISMATCH (5). It means that no limit is exceeded and no producer
# failed.
check_gates() {
  local verdict=0
  in_sid sh -c 'cd /footprint/tree && bazel --output_user_root=/footprint/out \
    run --noshow_progress //gates:check >/footprint/check.log 2>&1' 9>&- || verdict=$?
  say "//gates:check: exit $verdict (0 and 5 mean that every limit holds)"
  ((verdict == 0 || verdict == 5)) || {
    cat "$SID/footprint/check.log" >&2
    return 1
  }
}

main() {
  ((EUID == 0)) || fail "entering the sid folder needs root: run sudo tools/dev modern"
  mkdir -p "$(dirname "$SID")"
  exec 9>"$SID.lock"
  flock -n 9 || {
    say "waiting for another run in $SID"
    flock 9
  }
  create
  attach
  install_packages
  copy_tree
  report
  [[ ${1:-} != --released ]] || {
    test_released
    return
  }
  (($# == 0)) || {
    bazel_test . "$@"
    return
  }
  local status=0 workspace
  say "left out: tests that judge exact bytes of Debian 12 (tag exact_on_debian12);" \
    "//gates:check judges the limits of the same deployments below"
  bazel_test . --keep_going --test_tag_filters=-exact_on_debian12 //... || status=$?
  check_gates || status=1
  for workspace in "$SID"/footprint/tree/examples/*/MODULE.bazel; do
    workspace=${workspace#"$SID/footprint/tree/"}
    workspace=${workspace%MODULE.bazel}
    say "importer: $workspace"
    cp "$SID/footprint/tree/installed_bazel.bazelrc" "$SID/footprint/tree/$workspace"
    bazel_test "$workspace" //... || status=1
  done
  test_released || status=1
  return "$status"
}

main "$@"
