#!/usr/bin/env bash
# Runs the built serve and submit in a bare Debian 12 with only the packages they
# need: the tabular experiment is accepted, and rejected 1 MiB below its peak.
#
#   bare_debian.sh ROOT SERVE SUBMIT NATIVE_EXPERIMENT TABULAR_EXPERIMENT.py FOOTPRINT.py
#
# ROOT is a folder that `debootstrap --variant=minbase bookworm` filled; packages
# are installed into it. The script enters it by pivot_root in a mount namespace, since
# a chroot cannot make user namespaces. Needs root, cgroups, and a mirror for apt.
set -euo pipefail
(($# == 6)) || {
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
root=$(realpath "$1")
shift
rm -rf "$root/alone"
mkdir -p "$root/alone/cpp" "$root/alone/python" "$root/old"
cp -L "$1" "$root/alone/serve"
cp -L "$2" "$root/alone/submit"
cp -L "$3" "$root/alone/cpp/experiment"
cp -L "$4" "$5" "$root/alone/python/"

manifest() {
  cat <<END
# proto-file: gates/bundles/bundle.proto
# proto-message: footprint.BundleManifest
schema_version: 1
kind: $1
entry: "$2"
arguments: "--model=linear"
arguments: "--features=$3"
arguments: "--rows=$4"
$5budget_bytes: 419430400
label: "//tabular:$6"
END
}
manifest NATIVE_PROGRAM experiment 100 10000 "" cpp >"$root/alone/cpp/bundle.textproto"
manifest PYTHON_SCRIPT "$(basename "$4")" 10 1000 $'arguments: "--library=sklearn"\n' \
  python >"$root/alone/python/bundle.textproto"

cat >"$root/alone/inside.sh" <<'END'
set -euo pipefail
export HOME=/root/home DEBIAN_FRONTEND=noninteractive
rm -rf "$HOME"
mkdir -p "$HOME"
cd /alone
fail() {
  echo "bare_debian: FAILED: $*" >&2
  exit 1
}
if ! ./serve --help >help 2>&1; then
  echo "without packages: $(cat help)"
  grep -q "lib[a-z-]*\.so.*cannot open shared object" help || fail "the library is not named"
fi
apt-get update >apt.log 2>&1 || fail "$(tail -n3 apt.log)"
# The first two for the binaries; the others are what the experiments need.
apt-get install -y --no-install-recommends libarchive13 libcpp-httplib0.11 libhwy1 \
  python3-sklearn >apt.log 2>&1 || fail "$(tail -n3 apt.log)"
./serve >log 2>&1 &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 300); do
  grep -q http:// log && break
  sleep 0.1
done
for language in cpp python; do
  ./submit $language --format=json --all --output=verdict ||
    fail "$language: $(cat verdict log)"
  peak=$(grep -o '"measured": *[0-9]*' verdict | head -n1 | grep -o '[0-9]*$')
  echo "$language: accepted, whole-process peak $peak B"
  sed -i "s/^budget_bytes.*/budget_bytes: $((peak - 1048576))/" $language/bundle.textproto
  status=0
  ./submit $language >verdict 2>steps || status=$?
  ((status == 1)) || fail "$language, 1 MiB less: status $status: $(cat verdict steps)"
  tr -s ' \n' ' ' <verdict | grep -o "[0-9,]* B) above the budget.*in the stage '[a-z]*'" ||
    fail "$language: neither excess nor stage: $(cat verdict)"
done
END

# shellcheck disable=SC2016 # expanded inside
exec unshare --mount --propagation=private bash -c '
  set -e
  mount --bind "$1" "$1"
  mount -t proc proc "$1/proc"
  mount --rbind /sys "$1/sys"
  mount --rbind /dev "$1/dev"
  cd "$1"
  pivot_root . old
  umount -l /old
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 bash /alone/inside.sh
' bash "$root"
