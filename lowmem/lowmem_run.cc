// Runs an encoder from a checkpoint's folder inside a budget of bytes:
//
//   lowmem_run MODEL_DIR --ids=101,7592,102 --budget=16MiB
//
// and says what it held, read, and took. Exit codes: 0; 1 the model, the input
// or the budget cannot be run (the text says why); 2 wrong usage.

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "footprint/lowmem/byte_size.h"
#include "footprint/lowmem/encoder.h"
#include "footprint/lowmem/weight_store.h"

ABSL_FLAG(std::string, ids, "", "token ids, separated by commas");
ABSL_FLAG(int, random_ids, 0, "run this many tokens drawn at random instead");
ABSL_FLAG(std::string, budget, "",
          "bytes for activations, workspace and weights in flight, such as "
          "16MiB; the least that is possible unless given");
ABSL_FLAG(std::string, backend, "pread", "resident, pread, direct or mmap");
ABSL_FLAG(int, threads, 2, "threads that compute");
ABSL_FLAG(int, repeat, 1, "forward passes");
ABSL_FLAG(std::string, output, "",
          "file for the last hidden states, tokens x hidden floats");
ABSL_FLAG(bool, layers, false, "say how long each layer took");

namespace footprint {
namespace {

absl::StatusOr<std::vector<int32_t>> InputIds(int64_t vocabulary) {
  std::vector<int32_t> ids;
  if (absl::GetFlag(FLAGS_random_ids) > 0) {
    std::mt19937 random(1);
    for (int i = 0; i < absl::GetFlag(FLAGS_random_ids); ++i) {
      ids.push_back(static_cast<int32_t>(random() % vocabulary));
    }
    return ids;
  }
  const std::string text = absl::GetFlag(FLAGS_ids);
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(part, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ids: \"", part, "\" is not a number"));
    }
    ids.push_back(id);
  }
  return ids;
}

// A line of /proc/self/status in bytes; -1 if there is none.
int64_t ProcessBytes(absl::string_view key) {
  FILE* const file = fopen("/proc/self/status", "r");
  if (file == nullptr) return -1;
  char line[256];
  int64_t bytes = -1;
  while (bytes < 0 && fgets(line, sizeof(line), file) != nullptr) {
    if (!absl::StartsWith(line, key)) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() >= 2 && absl::SimpleAtoi(words[1], &kib)) {
      bytes = kib * 1024;
    }
  }
  fclose(file);
  return bytes;
}

// The multiplications and additions of the products.
double Operations(const EncoderConfig& config, int64_t tokens) {
  const double weights =
      4.0 * static_cast<double>(config.hidden) * config.hidden +
      2.0 * static_cast<double>(config.hidden) * config.intermediate;
  const double attention = 2.0 * static_cast<double>(tokens) * config.hidden;
  return 2.0 * static_cast<double>(config.layers) * tokens *
         (weights + attention);
}

double ProcessorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec +
                                    usage.ru_stime.tv_usec);
}

void PrintTimes(const EncoderRun& run, const Encoder& encoder, int64_t tokens,
                double processor_seconds) {
  double seconds = 0;
  for (const int64_t step : run.step_nanoseconds()) {
    seconds += 1e-9 * static_cast<double>(step);
  }
  const double operations = Operations(encoder.config(), tokens);
  printf("time         %.4f s, %.1f GFLOP/s; processor %.4f s, %.1f GFLOP/s\n",
         seconds, 1e-9 * operations / seconds, processor_seconds,
         1e-9 * operations / processor_seconds);
  if (!absl::GetFlag(FLAGS_layers)) return;
  int64_t index = 0;
  for (const int64_t step : run.step_nanoseconds()) {
    printf(
        "  %-10s %.4f s\n",
        index == 0 ? "embeddings" : absl::StrCat("layer ", index - 1).c_str(),
        1e-9 * static_cast<double>(step));
    ++index;
  }
}

void PrintMemory(const EncoderRun& run, const EncoderPlan& plan,
                 const WeightStore& store) {
  printf("budget       %s\n", ByteSizeText(plan.budget_bytes).c_str());
  printf("arena        %s planned, %s resident; tiles of %s, %d features\n",
         ByteSizeText(plan.peak_bytes).c_str(),
         ByteSizeText(run.ResidentArenaBytes()).c_str(),
         ByteSizeText(plan.tile_bytes).c_str(),
         static_cast<int>(plan.chunk_features));
  printf("process      %s VmHWM, now %s anonymous and %s of files\n",
         ByteSizeText(ProcessBytes("VmHWM")).c_str(),
         ByteSizeText(ProcessBytes("RssAnon")).c_str(),
         ByteSizeText(ProcessBytes("RssFile")).c_str());
  const WeightCounters counters = store.counters();
  printf("weights      %s; %s delivered, %s read in %d reads, waited %.3f s\n",
         store.Description().c_str(),
         ByteSizeText(counters.bytes_delivered).c_str(),
         ByteSizeText(counters.bytes_read).c_str(),
         static_cast<int>(counters.reads),
         1e-9 * static_cast<double>(counters.wait_nanoseconds));
}

absl::Status WriteOutput(absl::Span<const float> states) {
  const std::string path = absl::GetFlag(FLAGS_output);
  if (path.empty()) return absl::OkStatus();
  FILE* file = fopen(path.c_str(), "wb");
  bool written = file != nullptr &&
                 fwrite(states.data(), sizeof(float), states.size(), file) ==
                     states.size();
  if (file != nullptr) written = fclose(file) == 0 && written;
  if (written) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

absl::Status Run(const std::string& directory) {
  const auto backend = WeightBackendFromName(absl::GetFlag(FLAGS_backend));
  if (!backend.ok()) return backend.status();
  const auto encoder = Encoder::Open(directory, *backend);
  if (!encoder.ok()) return encoder.status();
  const auto ids = InputIds((*encoder)->config().vocabulary);
  if (!ids.ok()) return ids.status();
  const int64_t tokens = static_cast<int64_t>(ids->size());
  const int threads = absl::GetFlag(FLAGS_threads);
  const std::string budget_text = absl::GetFlag(FLAGS_budget);
  const auto budget = budget_text.empty()
                          ? (*encoder)->MinBudgetBytes(tokens, threads)
                          : ParseByteSize(budget_text);
  if (!budget.ok()) return budget.status();
  const auto plan = (*encoder)->Plan(tokens, threads, *budget);
  if (!plan.ok()) return plan.status();
  const auto run = (*encoder)->Start(*plan);
  if (!run.ok()) return run.status();
  for (int i = 0; i < absl::GetFlag(FLAGS_repeat); ++i) {
    const double begin = ProcessorSeconds();
    const auto states = (*run)->Forward(*ids, {});
    if (!states.ok()) return states.status();
    const double end = ProcessorSeconds();
    PrintTimes(**run, **encoder, tokens, end - begin);
    const absl::Status written = WriteOutput(*states);
    if (!written.ok()) return written;
  }
  PrintMemory(**run, *plan, (*encoder)->store());
  return absl::OkStatus();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_run MODEL_DIR --ids=101,7592,102 [--budget=16MiB]\n"
      "MODEL_DIR holds config.json and model.safetensors.");
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  if (arguments.size() != 2) {
    fprintf(stderr,
            "usage: lowmem_run MODEL_DIR --ids=101,7592,102 "
            "[--budget=16MiB]; --help says more\n");
    return 2;
  }
  const absl::Status status = footprint::Run(arguments[1]);
  if (status.ok()) return 0;
  fprintf(stderr, "lowmem_run: %s\n", std::string(status.message()).c_str());
  return 1;
}
