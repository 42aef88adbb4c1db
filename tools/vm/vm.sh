#!/usr/bin/env bash
# Runs tests inside a virtual machine that has control groups of version 2.
#
#   vm.sh [--shell] [TEST_TARGET ...]
#
# The machines where Footprint is developed have version 1, and a group cannot move
# between versions while it exists, so this boots Debian's kernel in qemu. It emulates
# the processor: minutes in place of seconds. KVM must be asked for, since a machine that
# is virtual itself may offer it and then hang. Bazel builds the tests
# outside; the machine has the root file system of Debian 12, without a network.
# Every test runs twice: as root beside an init that only mounts (bare), and as a
# service of systemd with a delegated group (service).
#
# Prints a table of tests by result, and the end of the output of each that failed.
# Exit 1 if one failed, 2 if the machine could not be made.
#
#   FOOTPRINT_VM               the folder of the image, /var/cache/footprint/vm unless given
#   FOOTPRINT_VM_ACCELERATION  tcg unless given; kvm where it works
set -euo pipefail
TREE=$(git -C "$(dirname "$(realpath "${BASH_SOURCE[0]}")")" rev-parse --show-toplevel)
readonly TREE
readonly VM=${FOOTPRINT_VM:-/var/cache/footprint/vm}
readonly ROOT=$VM/root
readonly HOST_PACKAGES=(debootstrap qemu-system-x86 e2fsprogs)
# Packages that the programs of the tests are linked with, or start.
readonly GUEST_PACKAGES=(
  systemd systemd-sysv dbus dbus-user-session linux-image-cloud-amd64 initramfs-tools procps
  python3 libstdc++6 libabsl20220623 libprotobuf32 libjemalloc2 libarchive13
  libsqlite3-0 liburing2 libbenchmark1debian libdw1 libcpp-httplib0.11 file zip
)
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

# A folder that debootstrap did not finish has another name.
make_root() {
  [[ -e $ROOT/footprint.done ]] && return
  local mirror
  mirror=$(bash "$TREE/tools/modern/debian_mirror.sh") || exit
  say "debootstrap of Debian 12 into $ROOT (about 1 GB, several minutes)"
  rm -rf --one-file-system "$ROOT" "$ROOT.unfinished"
  mkdir -p "$VM"
  local packages
  packages=$(
    IFS=,
    echo "${GUEST_PACKAGES[*]}"
  )
  debootstrap --variant=minbase --include="$packages" bookworm "$ROOT.unfinished" "$mirror" >&2
  touch "$ROOT.unfinished/footprint.done"
  mv "$ROOT.unfinished" "$ROOT"
}

# Builds the tests and copies each with what it reads, as `bazel test` would lay it out.
copy_tests() {
  local target bin path name
  bazel build --noshow_progress "$@" >&2
  bin=$(bazel info bazel-bin 2>/dev/null)
  rm -rf --one-file-system "$ROOT/footprint"
  mkdir -p "$ROOT/footprint/tests"
  for target in "$@"; do
    name=${target#//}
    name=${name//[:\/]/.}
    path=$bin/${target#//}
    path=${path/:/\/}
    mkdir -p "$ROOT/footprint/tests/$name"
    cp -LR "$path.runfiles/." "$ROOT/footprint/tests/$name/"
    # Libraries are found relative to the program, below the same folder.
    printf '%s\n' "${target#//}" >"$ROOT/footprint/tests/$name/target"
  done
  cp "$TREE/tools/vm/guest.sh" "$ROOT/footprint/guest.sh"
  cp "$TREE/tools/vm/footprint.service" "$ROOT/etc/systemd/system/footprint.service"
  ln -sf ../footprint.service "$ROOT/etc/systemd/system/multi-user.target.wants/footprint.service"
}

make_image() {
  say "writing $VM/disk.ext4"
  rm -f "$VM/disk.ext4"
  truncate -s 4G "$VM/disk.ext4"
  mkfs.ext4 -q -F -d "$ROOT" "$VM/disk.ext4"
}

# boot INIT NAME: the console is kept in $VM/NAME.log.
boot() {
  local init=$1 log=$VM/$2.log acceleration=${FOOTPRINT_VM_ACCELERATION:-tcg}
  say "booting with $init ($acceleration); the console is in $log"
  timeout --foreground 3600 qemu-system-x86_64 -accel "$acceleration" -cpu max -smp 2 -m 4096 \
    -nographic -no-reboot -nic none -kernel "$ROOT"/boot/vmlinuz-* -initrd "$ROOT"/boot/initrd.img-* \
    -drive "file=$VM/disk.ext4,format=raw,if=virtio" \
    -append "console=ttyS0 root=/dev/vda rw quiet init=$init panic=-1 systemd.unified_cgroup_hierarchy=1" \
    </dev/null >"$log" 2>&1 || say "qemu ended with $?"
}

# Rows of a log: "FOOTPRINT RESULT test status seconds".
report() {
  local way=$1 log=$VM/$1.log found=0 status=0 test result seconds
  while read -r _ _ test result seconds; do
    found=$((found + 1))
    ((result == 0)) || status=1
    printf '%-8s %-44s %-8s %5s s\n' "$way" "$test" \
      "$( ((result == 0)) && echo passed || echo "failed $result")" "$seconds"
    # A login prompt may stand on the same line.
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
  if (($# == 0)); then
    local tests
    tests=$(bazel query --noshow_progress 'tests(//tools/vm)' 2>/dev/null) || fail "//tools/vm names tests that are not there"
    # shellcheck disable=SC2086  # A label a word.
    set -- $tests
  fi
  install_host_packages
  make_root
  copy_tests "$@"
  make_image
  local status=0
  boot /footprint/guest.sh bare
  report bare || status=$?
  boot /sbin/init service
  report service || status=$?
  return "$status"
}

main "$@"
