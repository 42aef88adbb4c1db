#!/usr/bin/env bash
# Runs tests inside a virtual machine that has control groups of version 2.
#
#   vm.sh [TEST_TARGET ...]
#   vm.sh --aarch64 [OPTIONS of tools/aarch64/cross_test.py]
#
# The machines where Footprint is developed have version 1, and a group cannot
# move between versions while it exists, so this boots Debian's kernel in qemu.
# It emulates the processor, which takes minutes instead of seconds. KVM is used
# only on request, since a machine that is itself virtual may offer it and then
# hang. Bazel builds the tests outside; the machine has the root file system of
# Debian 12, without a network. Every test runs three times: as root beside an
# init that only mounts (bare), as a service of systemd with a delegated group
# (service), and as a user without privileges by `systemd-run --user` (user).
# The user does not run those of //tools/vm:root_only.
#
# With --aarch64 the machine is an emulated aarch64 one with Debian's arm64
# packages. The tests are those that tools/aarch64 compiles, and they run once,
# as root beside the init.
#
# Prints a table of tests by result, and the end of the output of each that
# failed. Exits with 1 if one failed, 2 if the machine could not be made.
#
#   FOOTPRINT_VM               the folder of the image, /var/cache/footprint/vm (or
#                              vm_aarch64 beside it) unless given
#   FOOTPRINT_VM_ACCELERATION  tcg unless given; kvm where it works
set -euo pipefail
TREE=$(git -C "$(dirname "$(realpath "${BASH_SOURCE[0]}")")" rev-parse --show-toplevel)
readonly TREE
# Packages that the tests' programs are linked with or start.
GUEST_PACKAGES=(
  systemd systemd-sysv dbus dbus-user-session initramfs-tools procps python3 libstdc++6 file zip
)
if [[ ${1-} == --aarch64 ]]; then
  shift
  readonly ARCHITECTURE=arm64
  readonly VM=${FOOTPRINT_VM:-/var/cache/footprint/vm_aarch64}
  readonly HOST_PACKAGES=(debootstrap qemu-system-arm qemu-user-static e2fsprogs)
  readonly MACHINE=(qemu-system-aarch64 -machine virt -cpu max)
  readonly CONSOLE=ttyAMA0
  GUEST_PACKAGES+=(linux-image-cloud-arm64 libhwy1)
else
  readonly ARCHITECTURE=amd64
  readonly VM=${FOOTPRINT_VM:-/var/cache/footprint/vm}
  readonly HOST_PACKAGES=(debootstrap qemu-system-x86 e2fsprogs)
  readonly MACHINE=(qemu-system-x86_64 -cpu max)
  readonly CONSOLE=ttyS0
  GUEST_PACKAGES+=(
    linux-image-cloud-amd64 libabsl20220623 libprotobuf32 libjemalloc2 libarchive13
    libsqlite3-0 liburing2 libutf8proc2 libpcre2-8-0 libbenchmark1debian libdw1 libcpp-httplib0.11 python3-numpy
  )
fi
readonly ROOT=$VM/root
say() { printf 'vm: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 2
}

install_host_packages() {
  local missing=() package
  for package in "${HOST_PACKAGES[@]}"; do
    # shellcheck disable=SC2016  # ${Status} is dpkg's.
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep 'ok installed' >/dev/null ||
      missing+=("$package")
  done
  ((${#missing[@]} == 0)) && return
  say "installing ${missing[*]}"
  apt-get update >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >&2
}

# Lets this machine's kernel start programs of aarch64 while debootstrap
# configures its packages. The entry is removed afterwards, since tests ask what
# happens without one.
readonly BINFMT=/proc/sys/fs/binfmt_misc
begin_foreign_programs() {
  [[ -e $BINFMT/register ]] || mount -t binfmt_misc binfmt_misc "$BINFMT" ||
    fail "this kernel starts no programs of another processor (binfmt_misc): debootstrap needs that"
  [[ ! -e $BINFMT/footprint-aarch64 ]] || return 0
  trap end_foreign_programs EXIT
  printf '%s' ':footprint-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:/usr/bin/qemu-aarch64-static:F' \
    >"$BINFMT/register"
}
end_foreign_programs() {
  [[ ! -e $BINFMT/footprint-aarch64 ]] || echo -1 >"$BINFMT/footprint-aarch64"
}

# Makes the root file system. An unfinished folder of debootstrap has another
# name. A root with other packages is made again.
make_root() {
  local done=$ROOT/footprint.done
  [[ -e $done && $(<"$done") == "${GUEST_PACKAGES[*]}" ]] && return
  local mirror
  mirror=$(bash "$TREE/tools/modern/debian_mirror.sh") || exit
  say "debootstrap of Debian 12 for $ARCHITECTURE into $ROOT (about 1 GB, several minutes)"
  rm -rf --one-file-system "$ROOT" "$ROOT.unfinished"
  mkdir -p "$VM"
  local packages
  packages=$(
    IFS=,
    echo "${GUEST_PACKAGES[*]}"
  )
  [[ $ARCHITECTURE != arm64 ]] || begin_foreign_programs
  debootstrap --arch="$ARCHITECTURE" --variant=minbase --include="$packages" bookworm \
    "$ROOT.unfinished" "$mirror" >&2
  end_foreign_programs
  chroot "$ROOT.unfinished" useradd --create-home --uid 1000 footprint
  echo "${GUEST_PACKAGES[*]}" >"$ROOT.unfinished/footprint.done"
  mv "$ROOT.unfinished" "$ROOT"
}

# tests_of SUITE: prints the labels of its tests.
tests_of() {
  bazel query --noshow_progress "tests($1)" 2>/dev/null || fail "$1 names tests that are not there"
}

# Builds the tests and copies each with the files that it reads, as `bazel test`
# arranges them.
copy_tests() {
  local target bin path name root_only
  bazel build --noshow_progress "$@" >&2
  root_only=$(tests_of //tools/vm:root_only)
  bin=$(bazel info bazel-bin 2>/dev/null)
  for target in "$@"; do
    name=${target#//}
    name=${name//[:\/]/.}
    path=$bin/${target#//}
    path=${path/:/\/}
    mkdir -p "$ROOT/footprint/tests/$name"
    cp -LR "$path.runfiles/." "$ROOT/footprint/tests/$name/"
    # Programs find libraries relative to themselves, below the same folder.
    printf '%s\n' "${target#//}" >"$ROOT/footprint/tests/$name/target"
    cat >"$ROOT/footprint/tests/$name/run" <<END
cd /footprint/tests/$name/footprint || exit 125
export TEST_SRCDIR=/footprint/tests/$name TEST_WORKSPACE=footprint RUNFILES_DIR=/footprint/tests/$name
exec ./${path#"$bin/"}
END
    [[ $'\n'$root_only$'\n' != *$'\n'$target$'\n'* ]] ||
      touch "$ROOT/footprint/tests/$name/root_only"
  done
}

# Compiles the unit tests for aarch64 and copies them with the tree, which they
# read.
copy_cross_compiled_tests() {
  tools/dev aarch64 --install="$ROOT/footprint/tests" "$@" >"$VM/compiled.log" || {
    grep -A 20 '^FAILED' "$VM/compiled.log" >&2
    fail "tests did not compile for aarch64; $VM/compiled.log has the whole output"
  }
  tail -n 1 "$VM/compiled.log" >&2
  mkdir "$ROOT/footprint/tree"
  # Deleted files that are not yet committed are still listed.
  git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do
      [[ ! -e $file ]] || printf '%s\0' "$file"
    done | xargs -0 cp --parents -t "$ROOT/footprint/tree"
}

copy_guest() {
  cp tools/vm/guest.sh "$ROOT/footprint/guest.sh"
  cp tools/vm/footprint.service "$ROOT/etc/systemd/system/footprint.service"
  ln -sf ../footprint.service "$ROOT/etc/systemd/system/multi-user.target.wants/footprint.service"
}

make_image() {
  say "writing $VM/disk.ext4"
  rm -f "$VM/disk.ext4"
  truncate -s 6G "$VM/disk.ext4"
  mkfs.ext4 -q -F -d "$ROOT" "$VM/disk.ext4"
}

# boot INIT WAY: boots and keeps the console in $VM/WAY.log.
boot() {
  local init=$1 way=$2 log=$VM/$2.log acceleration=${FOOTPRINT_VM_ACCELERATION:-tcg}
  say "booting with $init ($acceleration); the console is in $log"
  timeout --foreground 7200 "${MACHINE[@]}" -accel "$acceleration" -smp 2 -m 4096 \
    -nographic -no-reboot -nic none -kernel "$ROOT"/boot/vmlinuz-* -initrd "$ROOT"/boot/initrd.img-* \
    -drive "file=$VM/disk.ext4,format=raw,if=virtio" \
    -append "console=$CONSOLE root=/dev/vda rw quiet init=$init panic=-1 systemd.unified_cgroup_hierarchy=1 footprint.way=$way" \
    </dev/null >"$log" 2>&1 || say "qemu ended with $?"
}

# report WAY: prints the rows of a log, "FOOTPRINT RESULT test status seconds".
report() {
  local way=$1 log=$VM/$1.log found=0 status=0 test result seconds
  while read -r _ _ test result seconds; do
    found=$((found + 1))
    ((result == 0)) || status=1
    printf '%-8s %-44s %-8s %5s s\n' "$way" "$test" \
      "$( ((result == 0)) && echo passed || echo "failed $result")" "$seconds"
    # A login prompt may be on the same line.
  done < <(tr -d '\r' <"$log" | grep -o 'FOOTPRINT RESULT .*')
  tr -d '\r' <"$log" | sed -n '/^FOOTPRINT OUTPUT/,/^FOOTPRINT END/p' >&2
  ((found > 0)) || {
    say "no result in $log; its end:"
    tail -n 20 "$log" >&2
    status=2
  }
  return "$status"
}

main() {
  ((EUID == 0)) || fail "making a file system needs root: sudo tools/dev vm"
  cd "$TREE"
  if [[ $ARCHITECTURE == amd64 ]] && (($# == 0)); then
    local tests
    tests=$(tests_of '//tools/vm + //tools/vm:root_only') || exit
    # shellcheck disable=SC2086  # A label a word.
    set -- $tests
  fi
  install_host_packages
  make_root
  rm -rf --one-file-system "$ROOT/footprint"
  mkdir -p "$ROOT/footprint/tests"
  if [[ $ARCHITECTURE == arm64 ]]; then
    copy_cross_compiled_tests "$@"
  else
    copy_tests "$@"
  fi
  copy_guest
  make_image
  local status=0 way
  boot /footprint/guest.sh bare
  report bare || status=$?
  # An aarch64 machine runs in one way only.
  if [[ $ARCHITECTURE == amd64 ]]; then
    for way in service user; do
      boot /sbin/init "$way"
      report "$way" || status=$?
    done
  fi
  return "$status"
}

main "$@"
