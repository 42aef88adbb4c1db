#!/bin/bash
# The first process of the virtual machine, or the program of its service: runs
# every test below /footprint/tests by its script `run`, prints a row for each,
# and turns the machine off.
#
#   guest.sh          runs as the kernel's parameter footprint.way says: bare, service or user
#   guest.sh tests    only runs the tests
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8

# When this is the first process, nothing is mounted, so it mounts what is
# needed.
mount_by_hand() {
  mount -t proc proc /proc
  mount -t sysfs sys /sys
  mount -t devtmpfs dev /dev 2>/dev/null
  mkdir -p /dev/shm /dev/pts
  mount -t tmpfs shm /dev/shm
  mount -t devpts pts /dev/pts
  mount -t cgroup2 cgroup /sys/fs/cgroup
  mount -t tmpfs run /run
  # SIOCSIFFLAGS brings the loopback device up, which the server's tests use.
  python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x41))'
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control
}

run_test() {
  local folder=$1 target began status output
  target=$(<"$folder/target")
  if [[ -e $folder/root_only && $EUID != 0 ]]; then return; fi
  TEST_TMPDIR=$(mktemp -d -p /var/tmp)
  output=$TEST_TMPDIR.output
  export TEST_TMPDIR TEST_UNDECLARED_OUTPUTS_DIR=$TEST_TMPDIR
  began=$SECONDS
  timeout 1500 bash "$folder/run" >"$output" 2>&1
  status=$?
  echo "FOOTPRINT RESULT //$target $status $((SECONDS - began))"
  if ((status != 0)); then
    echo "FOOTPRINT OUTPUT //$target"
    grep -a -E 'Failure|FAILED|NOT TESTED' -A 6 "$output" | tail -n 80
    tail -n 20 "$output"
    echo "FOOTPRINT END"
  fi
  rm -rf "$TEST_TMPDIR" "$output"
}

run_tests() {
  echo "FOOTPRINT HOST $(uname -r), $(stat -f -c %T /sys/fs/cgroup) at /sys/fs/cgroup, user $EUID, group $(cat /proc/self/cgroup)"
  for folder in /footprint/tests/*/; do
    run_test "${folder%/}"
  done
  sync
}

# Starts the tests as the README tells a user without privileges to start
# programs that make memory groups.
run_tests_as_user() {
  systemctl start user@1000.service
  runuser -u footprint -- env XDG_RUNTIME_DIR=/run/user/1000 \
    systemd-run --user --wait --collect --pipe --quiet -p Delegate=yes -p MemoryMax=3G \
    /footprint/guest.sh tests
}

if [[ ${1-} == tests ]]; then
  run_tests
  exit
fi
exec >/dev/console 2>&1
if (($$ == 1)); then
  export HOME=/root
  mount_by_hand
  run_tests
  echo o >/proc/sysrq-trigger
  sleep 60
else
  if grep -q footprint.way=user /proc/cmdline; then
    run_tests_as_user
  else
    run_tests
  fi
  systemctl poweroff --force --force
fi
