// Runs a model from a checkpoint's folder inside a budget of bytes: an encoder
// (BERT, DistilBERT), or a decoder (GPT-2) that goes on with its input.
//
//   lowmem_run MODEL_DIR --ids=101,7592,102 --budget=16MiB
//   lowmem_run MODEL_DIR --ids=15496,11 --generate=20 --budget=64MiB
//
// Says what it held, read, and took, and what to do where most of what it read
// was not needed. Exit codes: 0; 1 the model, the input or
// the budget cannot be run (the text says why); 2 wrong usage.

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
#include "footprint/lowmem/config_reader.h"
#include "footprint/lowmem/decoder.h"
#include "footprint/lowmem/decoder_plan.h"
#include "footprint/lowmem/encoder.h"
#include "footprint/lowmem/program_pages.h"
#include "footprint/lowmem/safetensors.h"
#include "footprint/lowmem/token_panel.h"
#include "footprint/lowmem/weight_store.h"
#include "footprint/profiling/format_bytes.h"
#include "footprint/profiling/parse_bytes.h"

ABSL_FLAG(std::string, ids, "",
          "token ids, separated by commas; an encoder takes several sequences, "
          "separated by semicolons");
ABSL_FLAG(int, random_ids, 0, "run this many tokens drawn at random instead");
ABSL_FLAG(int, batch, 1, "so many sequences of --random_ids");
ABSL_FLAG(std::string, budget, "",
          "bytes for activations, workspace and weights in flight, such as "
          "16MiB; the least that is possible unless given");
ABSL_FLAG(std::string, backend, "pread", "resident, pread, direct or mmap");
ABSL_FLAG(int, threads, 2, "threads that compute");
ABSL_FLAG(int, repeat, 1, "forward passes");
ABSL_FLAG(
    std::string, output, "",
    "file for floats: an encoder's last hidden states, tokens x hidden, one "
    "sequence after the other; a "
    "decoder's logits after the last token read");
ABSL_FLAG(int, generate, 1, "how many tokens a decoder goes on for");
ABSL_FLAG(bool, layers, false, "say how long each layer took");

namespace footprint {
namespace {

using Ids = std::vector<int32_t>;

absl::StatusOr<Ids> ParseIds(absl::string_view text) {
  Ids ids;
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

// At least one sequence.
absl::StatusOr<std::vector<Ids>> InputSequences(int64_t vocabulary) {
  std::vector<Ids> sequences;
  if (absl::GetFlag(FLAGS_random_ids) > 0) {
    if (absl::GetFlag(FLAGS_batch) < 1) {
      return absl::InvalidArgumentError("--batch: at least 1 sequence");
    }
    std::mt19937 random(1);
    sequences.resize(absl::GetFlag(FLAGS_batch));
    for (Ids& ids : sequences) {
      for (int i = 0; i < absl::GetFlag(FLAGS_random_ids); ++i) {
        ids.push_back(static_cast<int32_t>(random() % vocabulary));
      }
    }
    return sequences;
  }
  if (absl::GetFlag(FLAGS_batch) != 1) {
    return absl::InvalidArgumentError(
        "--batch goes with --random_ids; separate the sequences of --ids by "
        "semicolons");
  }
  const std::string text = absl::GetFlag(FLAGS_ids);
  for (absl::string_view part : absl::StrSplit(text, ';')) {
    const absl::StatusOr<Ids> ids = ParseIds(part);
    if (!ids.ok()) return ids.status();
    sequences.push_back(*ids);
  }
  return sequences;
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

void PrintSteps(absl::Span<const int64_t> steps, int64_t layers) {
  if (!absl::GetFlag(FLAGS_layers)) return;
  for (int64_t i = 0; i < static_cast<int64_t>(steps.size()); ++i) {
    const std::string name = i == 0        ? "embeddings"
                             : i <= layers ? absl::StrCat("layer ", i - 1)
                                           : "output";
    printf("  %-10s %.4f s\n", name.c_str(),
           1e-9 * static_cast<double>(steps[i]));
  }
}

double Seconds(absl::Span<const int64_t> steps) {
  double seconds = 0;
  for (const int64_t step : steps) seconds += 1e-9 * static_cast<double>(step);
  return seconds;
}

void PrintTimes(const EncoderRun& run, const EncoderConfig& config,
                const std::vector<EncoderSequence>& sequences,
                double processor_seconds) {
  const double seconds = Seconds(run.step_nanoseconds());
  double operations = 0;
  for (const EncoderSequence& sequence : sequences) {
    operations += Operations(config, static_cast<int64_t>(sequence.ids.size()));
  }
  printf("time         %.4f s, %.1f GFLOP/s; processor %.4f s, %.1f GFLOP/s\n",
         seconds, 1e-9 * operations / seconds, processor_seconds,
         1e-9 * operations / processor_seconds);
  PrintSteps(run.step_nanoseconds(), config.layers);
  // Who reads along sees each pass when it ends.
  fflush(stdout);
}

void PrintArena(int64_t budget_bytes, int64_t peak_bytes,
                int64_t resident_bytes, const std::string& choice) {
  printf("budget       %s\n", FormatRoundedBytes(budget_bytes).c_str());
  printf("arena        %s planned, %s resident; %s\n",
         FormatRoundedBytes(peak_bytes).c_str(),
         FormatRoundedBytes(resident_bytes).c_str(), choice.c_str());
}

bool IsPacked(const WeightStore& store) {
  for (const TensorInfo& tensor : store.index().tensors()) {
    const absl::StatusOr<Weight> weight = store.Find(tensor.name);
    if (weight.ok() && weight->panel_columns() < weight->columns()) return true;
  }
  return false;
}

// Whether most of what was read lies around short rows.
bool ReadForNothing(const WeightStore& store) {
  const WeightCounters counters = store.counters();
  return counters.bytes_around_rows > counters.bytes_read / 2;
}

// Says what mends that: a file in panels, and a budget of `panel_budget_bytes`,
// which has room for them.
void PrintAdvice(const WeightStore& store, int64_t budget_bytes,
                 int64_t panel_budget_bytes) {
  const WeightCounters counters = store.counters();
  printf(
      "advice       %s of the %s read were not needed: they lie around rows of "
      "a few columns; what mends it:\n",
      FormatRoundedBytes(counters.bytes_around_rows).c_str(),
      FormatRoundedBytes(counters.bytes_read).c_str());
  const std::string& file = store.index().file_name();
  if (!IsPacked(store)) {
    printf("             lowmem_pack %s %s\n", file.c_str(), file.c_str());
  }
  if (budget_bytes < panel_budget_bytes) {
    printf("             --budget=%lld or more\n",
           static_cast<long long>(panel_budget_bytes));
  }
}

void PrintProcess(const WeightStore& store, const std::string& reading) {
  printf("process      %s VmHWM, now %s anonymous and %s of files\n",
         FormatRoundedBytes(ProcessBytes("VmHWM")).c_str(),
         FormatRoundedBytes(ProcessBytes("RssAnon")).c_str(),
         FormatRoundedBytes(ProcessBytes("RssFile")).c_str());
  const WeightCounters counters = store.counters();
  printf(
      "weights      %s; tiles %s; %s delivered, %s read in %d reads, waited "
      "%.3f s\n",
      store.Description().c_str(), reading.c_str(),
      FormatRoundedBytes(counters.bytes_delivered).c_str(),
      FormatRoundedBytes(counters.bytes_read).c_str(),
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

// What was asked for, or the least that is possible.
absl::StatusOr<int64_t> Budget(const absl::StatusOr<int64_t>& least) {
  const std::string text = absl::GetFlag(FLAGS_budget);
  return text.empty() ? least : ParseBytes(text);
}

absl::Status RunEncoder(const std::string& directory, WeightBackend backend) {
  const auto encoder = Encoder::Open(directory, backend);
  if (!encoder.ok()) return encoder.status();
  const EncoderConfig& config = (*encoder)->config();
  const auto ids = InputSequences(config.vocabulary);
  if (!ids.ok()) return ids.status();
  std::vector<EncoderSequence> sequences;
  int64_t tokens = 0;
  for (const Ids& one : *ids) {
    sequences.push_back({one, {}});
    tokens = std::max(tokens, static_cast<int64_t>(one.size()));
  }
  const int64_t count = static_cast<int64_t>(sequences.size());
  const int threads = absl::GetFlag(FLAGS_threads);
  const auto budget =
      Budget((*encoder)->MinBudgetBytes(tokens, threads, count));
  if (!budget.ok()) return budget.status();
  const auto plan = (*encoder)->Plan(tokens, threads, *budget, count);
  if (!plan.ok()) return plan.status();
  const auto run = (*encoder)->Start(*plan);
  if (!run.ok()) return run.status();
  ReleaseProgramPages();
  for (int i = 0; i < absl::GetFlag(FLAGS_repeat); ++i) {
    const double begin = ProcessorSeconds();
    const auto states = (*run)->ForwardBatch(sequences);
    if (!states.ok()) return states.status();
    PrintTimes(**run, config, sequences, ProcessorSeconds() - begin);
    const absl::Status written = WriteOutput(*states);
    if (!written.ok()) return written;
  }
  PrintArena(plan->budget_bytes, plan->peak_bytes, (*run)->ResidentArenaBytes(),
             absl::StrCat("tiles of ", FormatRoundedBytes(plan->tile_bytes),
                          ", ", plan->chunk_features, " features"));
  PrintProcess((*encoder)->store(), (*run)->ReadingDescription());
  // Panels are used a row at a time: every budget has room.
  if (ReadForNothing((*encoder)->store())) {
    PrintAdvice((*encoder)->store(), plan->budget_bytes, 0);
  }
  return absl::OkStatus();
}

// Reads the input and goes on; says each token and how long it took.
absl::Status Generate(DecoderRun& run, absl::Span<const int32_t> prompt,
                      int64_t layers) {
  std::vector<double> seconds;
  printf("tokens      ");
  const absl::Status status = GenerateGreedily(
      run, prompt, absl::GetFlag(FLAGS_generate), [&](int32_t id) {
        printf(" %d", id);
        fflush(stdout);
        seconds.push_back(Seconds(run.step_nanoseconds()));
      });
  printf("\n");
  if (!status.ok()) return status;
  printf("time         %.4f s for the input of %d tokens\n", seconds[0],
         static_cast<int>(prompt.size()));
  if (seconds.size() > 1) {
    std::vector<double> later(seconds.begin() + 1, seconds.end());
    std::sort(later.begin(), later.end());
    const double median = later[later.size() / 2];
    printf(
        "             %.4f s for each further token (median), %.2f a second\n",
        median, 1 / median);
  }
  PrintSteps(run.step_nanoseconds(), layers);
  return absl::OkStatus();
}

// The least budget, in whole pages, with which tiles of many tokens' products
// hold a block of rows of a whole panel.
absl::StatusOr<int64_t> PanelBudget(const Decoder& decoder, int64_t positions,
                                    int threads) {
  absl::Status status;
  const auto has_room = [&](int64_t budget_bytes) {
    const auto plan = decoder.Plan(positions, threads, budget_bytes);
    status.Update(plan.status());
    return !plan.ok() ||
           plan->tile_bytes >= lowmem_internal::kOutputUnit * kSumBlock *
                                   plan->request.needs.element_bytes;
  };
  const auto least = decoder.MinBudgetBytes(positions, threads);
  if (!least.ok() || has_room(*least)) return least;
  constexpr int64_t kPageBytes = 4096;
  int64_t below = *least / kPageBytes;
  int64_t above = 2 * below;
  while (!has_room(above * kPageBytes)) above *= 2;
  while (above - below > 1) {
    const int64_t middle = (below + above) / 2;
    (has_room(middle * kPageBytes) ? above : below) = middle;
  }
  if (!status.ok()) return status;
  return above * kPageBytes;
}

absl::Status RunDecoder(const std::string& directory, WeightBackend backend) {
  const auto decoder = Decoder::Open(directory, backend);
  if (!decoder.ok()) return decoder.status();
  const DecoderConfig& config = (*decoder)->config();
  const auto sequences = InputSequences(config.vocabulary);
  if (!sequences.ok()) return sequences.status();
  if (sequences->size() > 1) {
    return absl::InvalidArgumentError(
        "several sequences, but a decoder reads one; run it once for each");
  }
  const Ids& ids = sequences->front();
  if (ids.empty()) {
    return absl::InvalidArgumentError("no tokens: the input is empty");
  }
  const int generated = absl::GetFlag(FLAGS_generate);
  if (generated < 1) {
    return absl::InvalidArgumentError("--generate: at least 1 token");
  }
  const int64_t positions = static_cast<int64_t>(ids.size()) + generated - 1;
  const int threads = absl::GetFlag(FLAGS_threads);
  const auto budget = Budget((*decoder)->MinBudgetBytes(positions, threads));
  if (!budget.ok()) return budget.status();
  const auto plan = (*decoder)->Plan(positions, threads, *budget);
  if (!plan.ok()) return plan.status();
  const auto run = (*decoder)->Start(*plan);
  if (!run.ok()) return run.status();
  ReleaseProgramPages();
  for (int i = 0; i < absl::GetFlag(FLAGS_repeat); ++i) {
    (*run)->Clear();
    const absl::Status status = Generate(**run, ids, config.layers);
    if (!status.ok()) return status;
  }
  const absl::Status written = WriteOutput((*run)->logits());
  if (!written.ok()) return written;
  PrintArena(plan->budget_bytes, plan->peak_bytes, (*run)->ResidentArenaBytes(),
             absl::StrCat(FormatRoundedBytes(plan->cache.size_bytes),
                          " of keys and values, tiles of ",
                          FormatRoundedBytes(plan->tile_bytes), ", ",
                          plan->chunk_tokens, " tokens and ",
                          plan->chunk_features, " features at a time"));
  PrintProcess((*decoder)->store(), (*run)->ReadingDescription());
  if (!ReadForNothing((*decoder)->store())) return absl::OkStatus();
  const auto panel_budget = PanelBudget(**decoder, positions, threads);
  if (!panel_budget.ok()) return panel_budget.status();
  PrintAdvice((*decoder)->store(), plan->budget_bytes, *panel_budget);
  return absl::OkStatus();
}

absl::Status Run(const std::string& directory) {
  const auto backend = WeightBackendFromName(absl::GetFlag(FLAGS_backend));
  if (!backend.ok()) return backend.status();
  if (absl::GetFlag(FLAGS_repeat) < 1) {
    return absl::InvalidArgumentError("--repeat: at least 1 pass");
  }
  const std::string path = directory + "/config.json";
  const auto text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  auto config = ConfigReader::Parse(*text, path);
  if (!config.ok()) return config.status();
  return config->TextOr("model_type", "bert") == "gpt2"
             ? RunDecoder(directory, *backend)
             : RunEncoder(directory, *backend);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_run MODEL_DIR --ids=101,7592,102 [--budget=16MiB] "
      "[--generate=20]\n"
      "MODEL_DIR holds config.json and model.safetensors. Pack the weights "
      "first, once: in a file as it was\npublished, a block of columns is read "
      "row by row, by --backend=direct in whole pages, which is many\ntimes "
      "slower.\n"
      "  lowmem_pack MODEL_DIR/model.safetensors MODEL_DIR/model.safetensors");
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
