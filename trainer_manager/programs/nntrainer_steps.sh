#!/usr/bin/env bash
# Builds nntrainer_steps.cc with the NNTrainer in $FOOTPRINT_NNTRAINER, and runs it
# with the arguments, on one thread.
#
#   nntrainer_steps.sh vgg16 32 1 sgd all
#
# $FOOTPRINT_NNTRAINER is NNTrainer's source folder, with libraries in its folder
# "build". `nntrainer_steps.sh --build` builds them, with Debian's meson,
# libopenblas-dev and libiniparser-dev. Exit status 3 where NNTrainer is not there;
# standard error says why.
set -euo pipefail

absent() {
  printf 'nntrainer_steps.sh: %s\n' "$*" >&2
  exit 3
}

[[ -n ${FOOTPRINT_NNTRAINER-} ]] || absent "FOOTPRINT_NNTRAINER names no folder with NNTrainer"
readonly SOURCES=$FOOTPRINT_NNTRAINER
readonly BUILD=$SOURCES/build
readonly LIBRARIES=(api/ccapi/libccapi-nntrainer.a nntrainer/libnntrainer.a)
[[ -e $SOURCES/api/ccapi/include/model.h ]] || absent "NNTrainer's sources are not in $SOURCES"

# Release, for this processor, one thread, OpenBLAS, without tests and applications.
build_libraries() {
  # Debian has no iniparser.pc.
  mkdir -p "$BUILD.pkgconfig"
  printf '%s\n' 'Name: iniparser' 'Description: reads .ini files' 'Version: 4.1' \
    'Libs: -liniparser' 'Cflags: -I/usr/include/iniparser' >"$BUILD.pkgconfig/iniparser.pc"
  PKG_CONFIG_PATH=$BUILD.pkgconfig meson setup "$BUILD" "$SOURCES" --buildtype=release \
    -Dwerror=false -Denable-app=false -Denable-test=false -Denable-logging=false \
    -Denable-tflite-backbone=false -Denable-tflite-interpreter=false \
    -Denable-capi=disabled -Dml-api-support=disabled \
    -Denable-nnstreamer-tensor-filter=disabled -Denable-nnstreamer-tensor-trainer=disabled \
    -Dopenblas-num-threads=1 -Domp-num-threads=1
  ninja -j1 -C "$BUILD" "${LIBRARIES[@]}"
}

if [[ ${1-} == --build ]]; then
  build_libraries
  exit
fi
for library in "${LIBRARIES[@]}"; do
  [[ -e $BUILD/$library ]] || absent "$BUILD/$library is not there; see --build"
done

program=$BUILD/nntrainer_steps
programs=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
source=$programs/nntrainer_steps.cc
if [[ ! $program -nt $source ]]; then
  tree=$programs/../..
  mkdir -p "$BUILD.include"
  ln -sfn "$(realpath "$tree")" "$BUILD.include/footprint"
  c++ -std=c++17 -O2 -DMIN_CPP_VERSION=201703L -DML_API_COMMON=0 \
    -I"$SOURCES/api" -I"$SOURCES/api/ccapi/include" -I"$BUILD.include" \
    -o "$program" "$source" "$tree/base/memory/resident_bytes.cc" \
    "${LIBRARIES[@]/#/$BUILD/}" -fopenmp -lopenblas -liniparser -ldl -lpthread >&2 ||
    absent "$source cannot be built with $SOURCES"
fi
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 exec "$program" "$@"
