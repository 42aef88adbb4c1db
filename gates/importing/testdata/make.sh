#!/usr/bin/env bash
# make.sh FOLDER: writes new files for this folder with the real tools: Debian
# 12's valgrind, heaptrack, google-perftools, libjemalloc2, libbenchmark-dev and
# golang-go.
set -euo pipefail
OUT=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The program holds 3,000,000 bytes, then 1,000 rows of 1,000, and then frees
# half of the rows.
cat >program.cc <<'END'
#include <cstdlib>
#include <cstring>
#include <vector>
int main() {
  char* table = static_cast<char*>(std::malloc(3000000));
  std::memset(table, 1, 3000000);
  std::vector<char*> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(static_cast<char*>(std::calloc(1000, 1)));
  }
  for (int i = 0; i < 500; ++i) std::free(rows[i]);
  std::free(table);
  return rows[700][0];
}
END
g++ -g -O0 program.cc -o program
valgrind --quiet --tool=massif --massif-out-file="$OUT/massif.out" ./program
heaptrack -o heaptrack ./program >/dev/null
heaptrack_print heaptrack.zst | tail -n 40 >"$OUT/heaptrack.txt"
# The dumps are those at 3 MB, at 4 MB and at the end.
HEAPPROFILE="$PWD/gperftools" HEAP_PROFILE_ALLOCATION_INTERVAL=1000000 \
  LD_PRELOAD=libtcmalloc.so.4 ./program
cp gperftools.0001.heap "$OUT/gperftools.1.heap"
cp gperftools.0002.heap "$OUT/gperftools.2.heap"
MALLOC_CONF=prof:true,lg_prof_sample:16,prof_gdump:true,prof_prefix:jemalloc \
  LD_PRELOAD=libjemalloc.so.2 ./program
# The last dump: jemalloc's names end in its number.
printf '%s\n' jemalloc.*.heap | sort -V | tail -n 1 | xargs -I{} cp {} "$OUT/jemalloc.heap"

# Two benchmarks of 800,000 and 1,600,000 bytes.
cat >benchmark.cc <<'END'
#include <benchmark/benchmark.h>
#include <cstdint>
#include <cstdlib>
static int64_t live = 0, peak = 0, total = 0, count = 0;
class Counter : public benchmark::MemoryManager {
 public:
  void Start() override { live = peak = total = count = 0; }
  void Stop(Result* result) override { Stop(*result); }
  void Stop(Result& result) override {
    result.num_allocs = count;
    result.max_bytes_used = peak;
    result.total_allocated_bytes = total;
    result.net_heap_growth = live;
  }
};
static void BM_Load(benchmark::State& state) {
  const int64_t bytes = state.range(0) * 800;
  for (auto _ : state) {
    void* table = std::malloc(bytes);
    live += bytes, total += bytes, ++count;
    if (live > peak) peak = live;
    benchmark::DoNotOptimize(table);
    std::free(table);
    live -= bytes;
  }
}
BENCHMARK(BM_Load)->ArgName("rows")->Arg(1000)->Arg(2000)->Iterations(10);
int main(int argc, char** argv) {
  Counter counter;
  benchmark::RegisterMemoryManager(&counter);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
END
g++ -O1 benchmark.cc -lbenchmark -lpthread -o benchmark
./benchmark --benchmark_format=json >"$OUT/google_benchmark.json"

# 3,000,000 bytes and 1,000 rows, sampled every 4,096 bytes.
cat >main.go <<'END'
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var table []byte
var rows [][]byte

func main() {
	runtime.MemProfileRate = 4096
	table = make([]byte, 3000000)
	for i := 0; i < 1000; i++ {
		rows = append(rows, make([]byte, 1000))
	}
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.Lookup("heap").WriteTo(file, 0); err != nil {
		panic(err)
	}
	file.Close()
	runtime.KeepAlive(rows)
	runtime.KeepAlive(table)
}
END
GO111MODULE=off go run main.go "$OUT/pprof.pb.gz"
