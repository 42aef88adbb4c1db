#!/bin/bash
# The first process of the virtual machine, or the program of its service: runs every test
# below /footprint/tests by its script `run`, prints a row for each, and turns the machine off.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8

# As the first process nothing is mounted, and what is needed is mounted by hand.
if (($$ == 1)); then
  mount -t proc proc /proc
  mount -t sysfs sys /sys
  mount -t devtmpfs dev /dev 2>/dev/null
  mkdir -p /dev/shm /dev/pts
  mount -t tmpfs shm /dev/shm
  mount -t devpts pts /dev/pts
  mount -t cgroup2 cgroup /sys/fs/cgroup
  mount -t tmpfs run /run
  # SIOCSIFFLAGS: up and running. The server's tests talk through the loopback.
  python3 -c 'import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x41))'
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control
fi

run_test() {
  local folder=$1 target began status
  target=$(<"$folder/target")
  export TEST_TMPDIR=/var/tmp/footprint.$RANDOM TEST_UNDECLARED_OUTPUTS_DIR=/var/tmp/outputs
  mkdir -p "$TEST_TMPDIR" "$TEST_UNDECLARED_OUTPUTS_DIR"
  began=$SECONDS
  timeout 1500 bash "$folder/run" >/var/tmp/output 2>&1
  status=$?
  echo "FOOTPRINT RESULT //$target $status $((SECONDS - began))"
  if ((status != 0)); then
    echo "FOOTPRINT OUTPUT //$target"
    grep -a -E 'Failure|FAILED|NOT TESTED' -A 6 /var/tmp/output | tail -n 80
    tail -n 20 /var/tmp/output
    echo "FOOTPRINT END"
  fi
  rm -rf "$TEST_TMPDIR"
}

exec >/dev/console 2>&1
echo "FOOTPRINT HOST $(uname -r), $(stat -f -c %T /sys/fs/cgroup) at /sys/fs/cgroup, group $(cat /proc/self/cgroup)"
for folder in /footprint/tests/*/; do
  run_test "${folder%/}"
done
sync
if (($$ == 1)); then
  echo o >/proc/sysrq-trigger
  sleep 60
else
  systemctl poweroff --force --force
fi
