#!/usr/bin/env bash
# Allocators that bring their own operator new and delete, linked into a program,
# preloaded behind memprof's agent and in front of it: each block counts once, by the size
# that the allocator tells, and the program ends as it does alone. With the allocators and
# the compiler that the machine has.
set -uo pipefail
# shellcheck source=profiling/memprof/memprof_test_functions.sh
. "$(dirname "$0")/memprof_test_functions.sh" "$1"
cd "$scratch" || exit 1

build() { g++ -std=c++17 -O1 -fno-builtin -w -o "$@" 2>build.log || fail "g++: $(cat build.log)"; }

# Every form of new and delete, from two threads; then blocks that stay, whose bytes it prints.
cat >forms.cc <<'CC'
#include <malloc.h>
#include <stdlib.h>

#include <cstdio>
#include <new>
#include <thread>

static void UseEachForm() {
  const std::align_val_t aligned{256};
  delete static_cast<char*>(operator new(50));
  operator delete(operator new(100));
  operator delete(operator new(100), size_t{100});
  operator delete(operator new(100, std::nothrow), std::nothrow);
  operator delete(operator new(100, aligned), aligned);
  operator delete(operator new(100, aligned), size_t{100}, aligned);
  operator delete(operator new(100, aligned, std::nothrow), aligned, std::nothrow);
  operator delete[](operator new[](100));
  operator delete[](operator new[](100), size_t{100});
  operator delete[](operator new[](100, std::nothrow), std::nothrow);
  operator delete[](operator new[](100, aligned), aligned);
  operator delete[](operator new[](100, aligned), size_t{100}, aligned);
  operator delete[](operator new[](100, aligned, std::nothrow), aligned, std::nothrow);
  operator delete(nullptr);
}
static int handled = 0;
int main() {
  UseEachForm();
  std::thread(UseEachForm).join();
  if (getenv("NEW_ABORTS") == nullptr) {
    volatile size_t too_much = size_t{1} << 60;
    std::set_new_handler([] {
      if (++handled == 3) std::set_new_handler(nullptr);
    });
    try {
      operator new(too_much);
      return 2;
    } catch (const std::bad_alloc&) {
    }
    if (handled != 3 || operator new(too_much, std::nothrow) != nullptr) return 3;
  }
  size_t bytes = 0;
  for (int i = 0; i < 100; ++i) {
    void* const blocks[] = {operator new(10248), malloc(10248), calloc(2, 5124), new char[10248],
                            operator new(10248, std::align_val_t{128}), realloc(malloc(10), 10248)};
    for (void* block : blocks) bytes += malloc_usable_size(block);
  }
  printf("%zu\n", bytes);
  return 5;
}
CC
# jemalloc's own calls. The functions are declared here: its header need not be there.
cat >calls_of_jemalloc.cc <<'CC'
#include <cstdio>
#include <cstdlib>
extern "C" {
void* mallocx(size_t, int);
void* rallocx(void*, size_t, int);
size_t xallocx(void*, size_t, size_t, int);
size_t sallocx(const void*, int);
void dallocx(void*, int);
void sdallocx(void*, size_t, int);
}
int main() {
  size_t bytes = 0;
  for (int i = 0; i < 100; ++i) {
    dallocx(mallocx(3000, 0), 0);
    sdallocx(mallocx(3000, 0x40), 3000, 0);
    sdallocx(operator new(3000), 3000, 0);
    free(mallocx(3000, 8));
    void* block = rallocx(mallocx(100, 0), 10248, 0);
    xallocx(block, 10248, 1000, 0);
    bytes += sallocx(block, 0);
  }
  printf("%zu\n", bytes);
  return 5;
}
CC

# counted_once PROGRAM ALLOCATOR: its status is its own, and the peak is what it says it
# holds, and the C++ library's pool of 72,704 bytes.
counted_once() {
  local alone
  timeout 60 "$1" >alone 2>&1
  alone=$?
  ((alone == 5)) || { fail "$1 alone: status $alone"; return; }
  for sampling in none 0; do
    measure --sampling=$sampling "$1"
    local status=$?
    ((status == alone)) || { fail "status $status of $1: $(tail -n 3 error)"; return; }
    check "$(<output) <= first['peak_live_bytes'] <= $(<output) + 90000 and not first['has_foreign_new']"
    # glibc's blocks may be 16 bytes larger where they lie elsewhere.
    check "abs($(<output) - $(<alone)) < 1000"
    [[ $(<error) != *"not be counted"* && $(<error) != *"not counted"* ]] || fail "$1: $(<error)"
  done
  check "abs(first['peak_live_bytes'] - first['live_bytes']) <= 90000 and first['allocator'].startswith('$2')"
}

build forms forms.cc -lpthread
counted_once ./forms "glibc 2."

libraries=$(find /usr/lib -path '*-linux-gnu/*' \( -name 'libtcmalloc.so.?' -o -name 'libtcmalloc_minimal.so.?' -o -name 'libjemalloc.so.?' \
  -o -name 'libmimalloc.so.?' \) 2>/dev/null | sort)
[[ -n $libraries ]] || skip "no allocator with operators of its own here"
for library in $libraries; do
  name=$(basename "$library")
  echo "$name"
  # Debian's mimalloc is compiled as C, where a failing new cannot throw.
  unset NEW_ABORTS
  [[ $name != libmimalloc* ]] || export NEW_ABORTS=1
  build "forms_$name" forms.cc -Wl,--no-as-needed "$library" -lpthread
  counted_once "./forms_$name" "$name"
  build "forms_at_fixed_address_$name" forms.cc -no-pie -Wl,--no-as-needed "$library" -lpthread
  counted_once "./forms_at_fixed_address_$name" "$name"
  LD_PRELOAD=$library counted_once ./forms "$name"
  if [[ $name == libjemalloc* ]]; then
    build calls_of_jemalloc calls_of_jemalloc.cc "$library"
    counted_once ./calls_of_jemalloc "$name"
  fi
  # In front of the agent, nothing comes to it: the report says so, and the resident set is judged.
  # shellcheck disable=SC2016  # The entry script's own.
  printf '#!/bin/sh\nLD_PRELOAD=%s:$LD_PRELOAD exec "$@"\n' "$library" >entry
  chmod +x entry
  expect 5 "has an allocator of its own, which is not counted (private in $name)" ./entry ./forms
  # Extensions of a C program bring a C++ library that the program does not see.
  LD_PRELOAD=$library measure --sampling=none python3 -c 'import json, ctypes; ctypes.CDLL("libstdc++.so.6"); print(sum(range(1000)))' ||
    fail "status $? of python behind $name"
done

# A C++ library that a C program opens finds the operators that it finds alone.
cat >extension.cc <<'CC'
#include <new>
extern "C" int try_new() {
  volatile unsigned long too_much = 1ul << 60;
  try {
    operator delete(operator new(too_much));
  } catch (const std::bad_alloc&) {
    operator delete[](new char[10248]);
    return 5;
  }
  return 1;
}
CC
cat >host.c <<'C'
#include <dlfcn.h>
int main(void) {
  void* extension = dlopen("./extension.so", RTLD_NOW);
  return extension == 0 ? 2 : ((int (*)(void))dlsym(extension, "try_new"))();
}
C
build extension.so extension.cc -shared -fPIC
gcc -o host host.c -ldl || fail "gcc"
for sampling in none 0; do
  measure --sampling=$sampling ./host
  status=$?
  ((status == 5)) || fail "status $status of ./host: $(<error)"
done
# A program at fixed addresses that takes malloc's address has a stub of that name itself; what
# lies in front of the agent all the same is named, operators or not.
cat >front.c <<'C'
#include <string.h>
#include <sys/mman.h>
static char* base;
static size_t used;
void* malloc(size_t size) {
  if (!base) base = mmap(0, 1 << 28, 3, 0x4022, -1, 0);
  char* block = base + used + 16;
  used += (size + 47) & ~15ul;
  return block;
}
void free(void* block) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* old, size_t size) { return malloc(size); }
C
cat >fixed.c <<'C'
#include <stdlib.h>
#include <string.h>
static void* (*const make)(size_t) = malloc;
int main(void) {
  for (int i = 0; i < 100; ++i) memset(make(10248), 1, 10248);
  return 5;
}
C
gcc -shared -fPIC -fno-builtin -w -o front.so front.c && gcc -no-pie -fno-pie -fno-builtin -o fixed fixed.c || fail "gcc"
# shellcheck disable=SC2016  # The entry script's own.
printf '#!/bin/sh\nLD_PRELOAD=%s/front.so:$LD_PRELOAD exec "$@"\n' "$PWD" >entry
chmod +x entry
expect 5 "has an allocator of its own, which is not counted (private in front.so)" ./entry ./fixed
measure --sampling=0 ./fixed
check "own[0] == 100 and first['allocator'].startswith('glibc 2.')"

# A weak reference to jemalloc's functions does not find memprof's.
cat >weak.c <<'C'
#include <dlfcn.h>
int main(void) { return dlsym(RTLD_DEFAULT, "mallocx") != 0 || dlsym(RTLD_DEFAULT, "_Znwm") != 0; }
C
gcc -o weak weak.c -ldl || fail "gcc"
measure ./weak || fail "a C program sees C++'s operators under memprof"
# One that is bound when it is loaded finds them, and gets what their flags ask for: 64 bytes or
# 4 KiB of alignment, and zeros behind the old block's real size.
cat >bound.c <<'C'
#include <malloc.h>
#include <stdint.h>
#include <string.h>
void* mallocx(size_t, int) __attribute__((weak));
void* rallocx(void*, size_t, int) __attribute__((weak));
void dallocx(void*, int) __attribute__((weak));
int main(void) {
  if (!mallocx) return 1;
  for (int i = 0; i < 1000; ++i) {
    void* dirty = malloc(10248);
    memset(dirty, 1, 10248);
    free(dirty);
    char* block = mallocx(100, 0x40);
    for (int j = 0; j < 100; ++j) if (block[j]) return 2;
    memset(block, 2, 100);
    size_t real = malloc_usable_size(block);
    memset(block, 2, real);
    int alignment = i % 3 == 0 ? 0 : i % 3 == 1 ? 6 : 12;
    block = rallocx(block, 5000, 0x40 | alignment);
    if ((uintptr_t)block % (1u << alignment)) return 3;
    for (size_t j = 0; j < 5000; ++j) if (block[j] != (j < real ? 2 : 0)) return 4;
    block = rallocx(block, 50, alignment);
    if ((uintptr_t)block % (1u << alignment) || block[49] != 2) return 5;
    dallocx(block, 0);
  }
  rallocx(mallocx(10, 0), 10248, 12);
  return 6;
}
C
gcc -O1 -fno-builtin -w -no-pie -Wl,-z,now -o bound bound.c || fail "gcc"
for sampling in none 0; do
  measure --sampling=$sampling ./bound
  status=$?
  ((status == 6)) || fail "status $status of ./bound: $(<error)"
  check "own == [1] and first['live_bytes'] // 10248 == 1 and first['live_bytes'] < 2 * 10248"
done

((failures == 0))
