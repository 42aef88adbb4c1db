#!/usr/bin/env bash
# Makes testdata/golden by tools of others: an image by umoci, as an archive by
# skopeo, and the list of the files that umoci unpacks of it.
#
#   apt-get install umoci skopeo
#   gates/images/make_golden.sh gates/images/testdata/golden
#
# umoci writes the time into the image, so each run gives other hashes. Run it as
# root, since umoci then unpacks what the layers say.
set -euo pipefail
target=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

umoci init --layout layout
umoci new --image layout:golden
umoci unpack --image layout:golden first
root=first/rootfs
mkdir -p "$root"/{bin,etc,opt/venv/bin,opt/venv/lib,usr/lib,var/old/deep}
printf '#!/bin/sh\n' > "$root/bin/run"
chmod 0755 "$root/bin/run"
chmod u+s "$root/bin/run"
printf 'hosts\n' > "$root/etc/hosts"
chmod 0600 "$root/etc/hosts"
printf 'lib\n' > "$root/usr/lib/libone.so.1"
ln -s libone.so.1 "$root/usr/lib/libone.so"
ln "$root/usr/lib/libone.so.1" "$root/usr/lib/libsame.so"
ln -s /usr/lib "$root/lib"
ln -s ../../../bin/run "$root/opt/venv/bin/python"
printf 'a\n' > "$root/var/old/deep/a"
printf 'b\n' > "$root/var/old/b"
printf 'replaced by a folder\n' > "$root/opt/thing"
mkdir "$root/opt/other"
printf 'c\n' > "$root/opt/other/c"
printf 'letters\n' > "$root/etc/Főtanúsítvány.crt"
printf '%s\n' "long" > "$root/etc/$(printf 'n%.0s' {1..150})"
umoci repack --image layout:golden first

umoci unpack --image layout:golden second
root=second/rootfs
rm -r "$root/var/old"
printf 'hosts of the second layer\n' > "$root/etc/hosts"
rm "$root/opt/thing"
mkdir "$root/opt/thing"
printf 'd\n' > "$root/opt/thing/d"
rm -r "$root/opt/other"
ln -s thing "$root/opt/other"
rm "$root/usr/lib/libone.so"
umoci repack --image layout:golden second

umoci unpack --image layout:golden third
root=third/rootfs
mkdir -p "$root/var/old"
printf 'new\n' > "$root/var/old/new"
chmod 0755 "$root/etc/hosts"
umoci repack --image layout:golden third
umoci config --image layout:golden --config.entrypoint /bin/run \
  --config.env A=1 --config.workingdir /opt \
  --config.label org.footprint.bundle='schema_version: 1 budget_bytes: 7340032'

skopeo --insecure-policy copy --quiet oci:layout:golden \
  "oci-archive:$target/image.tar:golden"
umoci unpack --image layout:golden unpacked
cd unpacked/rootfs
find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort | while read -r path; do
  if [[ -L $path ]]; then
    printf '%s l %s\n' "$path" "$(readlink "$path")"
  elif [[ -d $path ]]; then
    printf '%s d\n' "$path"
  else
    bit=-
    [[ -x $path ]] && bit=x
    printf '%s f %s %s %s\n' "$path" "$bit" "$(stat -c %h "$path")" \
      "$(cat "$path")"
  fi
done > "$target/unpacked.txt"
