// Runs a model from a checkpoint's folder inside a budget of bytes: an encoder
// (BERT, DistilBERT), or a decoder (GPT-2, Llama, Mistral, Qwen, Gemma 3,
// Phi-3) that continues its input.
//
//   lowmem_run MODEL_DIR --ids=101,7592,102 --budget=16MiB
//   lowmem_run MODEL_DIR --ids=15496,11 --generate=20 --budget=64MiB
//   lowmem_run MODEL_DIR --ids='15496,11;464' --generate=20 --budget=64MiB
//
// Prints how many bytes any program would have to read (read_bound.h), the
// results, the memory, the bytes that were read and the time. If it read more
// than 1.2 times the bytes that it needed, it also prints how to avoid that.
// Exit codes are those of command_line.h. 1: the model, the input or the budget
// does not work; the error says why. 2: the command line is wrong, whatever the
// model.

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
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/memory/alignment.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/safetensors/safetensors.h"
#include "footprint/base/simd/dense_product.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/report_escape.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/checkpoints/model_family.h"
#include "footprint/lowmem/kernels/arithmetic.h"
#include "footprint/lowmem/kernels/rounded_cache.h"
#include "footprint/lowmem/kernels/token_panel.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/encoder.h"
#include "footprint/lowmem/models/encoder_weights.h"
#include "footprint/lowmem/models/weight_binder.h"
#include "footprint/lowmem/programs/command_line.h"
#include "footprint/lowmem/programs/program_pages.h"
#include "footprint/lowmem/programs/read_certificate.h"
#include "footprint/lowmem/programs/run_budget.h"
#include "footprint/lowmem/programs/run_memory.h"
#include "footprint/lowmem/streaming/disk_rate.h"
#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/text/token_sampler.h"
#include "footprint/lowmem/weights/weight_store.h"

ABSL_FLAG(std::string, ids, "",
          "token ids, separated by commas; several sequences are separated by "
          "semicolons, and a decoder continues all of them over each reading "
          "of the weights");
ABSL_FLAG(absl::optional<int64_t>, random_ids, absl::nullopt,
          "instead of --ids: run this many random tokens");
ABSL_FLAG(int64_t, batch, 1, "number of sequences with --random_ids");
ABSL_FLAG(std::string, budget, "",
          "memory for activations, workspace and weights in flight, such as "
          "16MiB, or \"least\" for the smallest budget that works; default: "
          "the smallest whose predicted time is at most 1.06 times that with "
          "64MiB, or the free memory of the control group and the machine if "
          "that is less");
ABSL_FLAG(std::string, backend, "auto",
          "how weights are read: resident, pread, direct or mmap; auto takes "
          "pread if the weights fit into the free memory of the control group "
          "and the machine, and direct if they do not");
ABSL_FLAG(std::string, arithmetic, "exact",
          "how quantised matrices are multiplied: exact keeps activations as "
          "floats; int8 rounds them to eight bits, which is faster and less "
          "exact");
ABSL_FLAG(std::string, cache_type, "f32",
          "how a decoder's keys and values are stored: f32, or rounded to f16 "
          "or q8_0, which take 0.5 or 0.27 of the memory");
ABSL_FLAG(int, threads, 2, "number of threads that compute");
ABSL_FLAG(int, repeat, 1, "how often to run the model on the input");
ABSL_FLAG(
    std::string, output, "",
    "file for an encoder's last hidden states, one sequence after the other, "
    "or for a decoder's logits after the last token that it read of each "
    "sequence; the file holds floats without a header");
ABSL_FLAG(absl::optional<int64_t>, generate, absl::nullopt,
          "number of tokens that a decoder generates; default: 1");
ABSL_FLAG(bool, force, false,
          "replace the file that --output names, but never config.json or the "
          "weights");
ABSL_FLAG(bool, layers, false, "print the time of each layer");
ABSL_FLAG(bool, measure_disk, false,
          "with --backend=direct: measure for 0.2 s how fast the disk reads, "
          "and print how many passes a second it allows");

namespace footprint {
namespace {

using Ids = std::vector<int32_t>;
using lowmem_internal::RunMemory;

// The command line's request; the model is not known yet.
struct Request {
  std::string directory;
  absl::optional<WeightBackend> backend;  // nullopt: chosen by FindBackend
  Arithmetic arithmetic = Arithmetic::kExact;
  CacheType cache_type = CacheType::kF32;
  int threads = 1;
  int repeat = 1;
  std::vector<Ids> sequences;  // or drawn at random:
  int64_t random_tokens = 0;
  int64_t random_sequences = 0;
  lowmem_internal::BudgetRequest budget;
  absl::optional<int64_t> generate;

  bool is_random() const { return random_tokens > 0; }
  int64_t sequence_count() const {
    return is_random() ? random_sequences
                       : static_cast<int64_t>(sequences.size());
  }
  // Returns the bytes of all ids, were all sequences as long as the longest.
  int64_t ids_bytes() const {
    return tokens() * sequence_count() * static_cast<int64_t>(sizeof(int32_t));
  }
  // Returns the tokens of the longest sequence.
  int64_t tokens() const {
    int64_t tokens = random_tokens;
    for (const Ids& ids : sequences) {
      tokens = std::max(tokens, static_cast<int64_t>(ids.size()));
    }
    return tokens;
  }
};

// Parses one sequence. An empty text gives an empty sequence.
absl::StatusOr<Ids> ParseIds(absl::string_view text) {
  Ids ids;
  if (text.empty()) return ids;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int32_t id = 0;
    if (!absl::SimpleAtoi(part, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--ids: \"", part,
                       "\" is not a number; ids are separated by commas"));
    }
    ids.push_back(id);
  }
  return ids;
}

absl::Status ReadSequences(Request* request) {
  const std::vector<std::string> texts =
      absl::StrSplit(absl::GetFlag(FLAGS_ids), ';');
  for (size_t i = 0; i < texts.size(); ++i) {
    absl::StatusOr<Ids> ids = ParseIds(texts[i]);
    if (!ids.ok()) return ids.status();
    if (ids->empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          texts.size() == 1 ? "" : absl::StrCat("sequence ", i, ": "),
          "no tokens: the input is empty; give --ids or --random_ids"));
    }
    request->sequences.push_back(*std::move(ids));
  }
  return absl::OkStatus();
}

absl::Status ReadInput(Request* request) {
  const absl::optional<int64_t> random_ids = absl::GetFlag(FLAGS_random_ids);
  const int64_t batch = absl::GetFlag(FLAGS_batch);
  if (random_ids.has_value()) {
    if (!absl::GetFlag(FLAGS_ids).empty()) {
      return absl::InvalidArgumentError(
          "--ids and --random_ids are both given; leave one out");
    }
    if (*random_ids < 1) {
      return absl::InvalidArgumentError(
          "--random_ids must be at least 1 token");
    }
    if (batch < 1) {
      return absl::InvalidArgumentError("--batch must be at least 1 sequence");
    }
    request->random_tokens = *random_ids;
    request->random_sequences = batch;
    return absl::OkStatus();
  }
  if (batch != 1) {
    return absl::InvalidArgumentError(
        "--batch goes with --random_ids; separate the sequences of --ids by "
        "semicolons");
  }
  return ReadSequences(request);
}

absl::Status ReadFlags(Request* request) {
  const auto backend =
      lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend));
  if (!backend.ok()) return backend.status();
  request->backend = *backend;
  const auto arithmetic =
      lowmem_internal::ParseArithmetic(absl::GetFlag(FLAGS_arithmetic));
  if (!arithmetic.ok()) return arithmetic.status();
  request->arithmetic = *arithmetic;
  const auto cache_type =
      lowmem_internal::ParseCacheType(absl::GetFlag(FLAGS_cache_type));
  if (!cache_type.ok()) return cache_type.status();
  request->cache_type = *cache_type;
  request->threads = absl::GetFlag(FLAGS_threads);
  const absl::Status threads = lowmem_internal::CheckThreads(request->threads);
  if (!threads.ok()) return threads;
  request->repeat = absl::GetFlag(FLAGS_repeat);
  if (request->repeat < 1) {
    return absl::InvalidArgumentError("--repeat must be at least 1 pass");
  }
  request->generate = absl::GetFlag(FLAGS_generate);
  if (request->generate.has_value() && *request->generate < 1) {
    return absl::InvalidArgumentError("--generate must be at least 1 token");
  }
  const auto budget = lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget));
  if (!budget.ok()) return budget.status();
  request->budget = *budget;
  return ReadInput(request);
}

// The memory that a run would take must be free: the system kills a process
// that takes more.
absl::Status CheckMemory(const Request& request, const RunMemory& memory,
                         int64_t plan_bytes) {
  const absl::Status room =
      memory.CheckRoom(absl::StrCat(request.sequence_count(), " sequences of ",
                                    request.tokens(), " tokens"),
                       request.ids_bytes() + plan_bytes);
  if (room.ok()) return room;
  return absl::ResourceExhaustedError(
      absl::StrCat(room.message(), "; run fewer, or in a smaller --budget"));
}

// Must be called after planning, which refuses counts that no model can take.
std::vector<Ids> InputSequences(const Request& request, int64_t vocabulary) {
  if (!request.is_random()) return request.sequences;
  std::mt19937 random(1);
  std::vector<Ids> sequences(request.random_sequences);
  for (Ids& ids : sequences) {
    ids.reserve(request.random_tokens);
    for (int64_t i = 0; i < request.random_tokens; ++i) {
      ids.push_back(static_cast<int32_t>(random() % vocabulary));
    }
  }
  return sequences;
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
  // A reader of the output sees each pass as soon as it ends.
  fflush(stdout);
}

void PrintArena(const lowmem_internal::Budget& budget, int64_t peak_bytes,
                int64_t resident_bytes, const std::string& choice) {
  printf("%s\n", lowmem_internal::BudgetLine(budget).c_str());
  printf("arena        %s planned, %s resident; %s\n",
         FormatRoundedBytes(peak_bytes).c_str(),
         FormatRoundedBytes(resident_bytes).c_str(), choice.c_str());
}

bool IsPacked(const WeightStore& store) {
  for (const TensorInfo& tensor : store.index().tensors()) {
    const absl::StatusOr<Weight> weight = store.Find(tensor.name);
    if (weight.ok() && weight->block_columns() < weight->columns()) return true;
  }
  return false;
}

// Returns whether more than 1.2 of the bytes that were needed were read: the
// others lie around short rows.
bool ReadsTooMuch(const WeightStore& store) {
  const WeightCounters counters = store.counters();
  const int64_t needed_bytes = counters.bytes_read - counters.bytes_around_rows;
  return counters.bytes_around_rows > needed_bytes / 5;
}

// Says what fixes that: a file in panels, and a budget of `panel_budget_bytes`,
// which has room for them. A GGUF file has no panels.
void PrintAdvice(const WeightStore& store, int64_t budget_bytes,
                 int64_t panel_budget_bytes) {
  const WeightCounters counters = store.counters();
  const std::string command = PackCommand(store);
  std::string remedies;
  if (!command.empty() && !IsPacked(store)) {
    absl::StrAppend(&remedies, "             ", command, "\n");
  }
  if (!command.empty() && budget_bytes < panel_budget_bytes) {
    absl::StrAppend(&remedies, "             --budget=", panel_budget_bytes,
                    " or more\n");
  }
  printf(
      "advice       %s of the %s read were not needed: they lie around rows of "
      "a few columns; %s\n%s",
      FormatRoundedBytes(counters.bytes_around_rows).c_str(),
      FormatRoundedBytes(counters.bytes_read).c_str(),
      remedies.empty() ? "a larger --budget reads fewer" : "to fix it, run:",
      remedies.c_str());
}

void PrintArithmetic(Arithmetic arithmetic,
                     const std::vector<Weight>& matrices) {
  if (arithmetic == Arithmetic::kExact) return;
  printf("arithmetic   %s\n",
         lowmem_internal::ArithmeticDescription(arithmetic, matrices).c_str());
}

void PrintProcess(const WeightStore& store, const std::string& reading) {
  const ResidentBytes resident = ReadResidentBytes();
  printf("process      %s VmHWM, now %s anonymous and %s of files\n",
         FormatRoundedBytes(resident.peak_bytes).c_str(),
         FormatRoundedBytes(resident.anonymous_bytes).c_str(),
         FormatRoundedBytes(resident.file_bytes).c_str());
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

// Says what any program would have to read with so much memory and, if it is
// asked for, how often this disk can do so in a second.
absl::Status PrintReadBound(const WeightStore& store, const ReadBound& bound,
                            int64_t sequences = 1) {
  printf("%s\n", lowmem_internal::BoundLine(bound, sequences).c_str());
  if (!absl::GetFlag(FLAGS_measure_disk)) return absl::OkStatus();
  const absl::StatusOr<int64_t> rate = MeasureDiskRate(store);
  if (!rate.ok()) return rate.status();
  printf("%s\n", lowmem_internal::DiskLine(*rate, bound, sequences).c_str());
  return absl::OkStatus();
}

void PrintReadRatio(const WeightStore& store, const ReadBound& bound,
                    int64_t passes) {
  const std::string ratio = lowmem_internal::ReadRatio(store, bound, passes);
  if (!ratio.empty()) printf("             %s\n", ratio.c_str());
}

// Says which tensors of the file the model does not calculate with.
void PrintUnused(const std::vector<std::string>& names) {
  constexpr size_t kMostNames = 8;
  if (names.empty()) return;
  printf("unused       %d tensors of the file do not belong to this model:",
         static_cast<int>(names.size()));
  for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    printf("%s %s", i == 0 ? "" : ",", EscapeForTerminal(names[i]).c_str());
  }
  if (names.size() > kMostNames) {
    printf(" and %d more", static_cast<int>(names.size() - kMostNames));
  }
  printf("\n");
}

// Prints advice if each pass reads the file anew, because its pages do not stay
// in the page cache.
void PrintThrashing(const WeightStore& store, const RunMemory& memory,
                    int64_t plan_bytes) {
  const int64_t file_bytes = store.index().file_bytes();
  if (!memory.Thrashes(store.backend(), file_bytes, plan_bytes)) return;
  printf(
      "advice       the file's %s do not stay in the page cache, for which %s "
      "leaves too little: --backend=direct reads past it\n",
      FormatRoundedBytes(file_bytes).c_str(), memory.limited_by().c_str());
}

// Checks the output before a long run. A pipe is opened only when there is
// something to write.
absl::Status CheckOutput(const Request& request) {
  const std::string path = absl::GetFlag(FLAGS_output);
  if (path.empty()) return absl::OkStatus();
  std::vector<std::string> inputs = ListWeightFiles(request.directory);
  inputs.push_back(request.directory + "/config.json");
  for (const std::string& input : inputs) {
    if (!IsSameFile(path, input)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--output: ", path, " is a file of the model, which it would replace"));
  }
  const absl::Status free =
      lowmem_internal::CheckNotThere(path, absl::GetFlag(FLAGS_force));
  if (!free.ok()) return free;
  return CheckOutputFile(path);
}

// Writes directly to a pipe or a device; writes a file as a whole or not at
// all.
absl::Status WriteOutput(absl::Span<const absl::Span<const float>> parts) {
  const std::string path = absl::GetFlag(FLAGS_output);
  if (path.empty()) return absl::OkStatus();
  AtomicFileOptions options;
  options.expected_bytes =
      static_cast<int64_t>(parts.size() * parts[0].size() * sizeof(float));
  options.special_files = SpecialFiles::kWriteAsTheyAre;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  for (const absl::Span<const float> part : parts) {
    const absl::Status status =
        file->Append({reinterpret_cast<const char*>(part.data()),
                      part.size() * sizeof(float)});
    if (!status.ok()) return status;
  }
  return file->Commit();
}

// Prints a few numbers of the first token of up to eight sequences, enough to
// compare them by eye.
void PrintStates(absl::Span<const float> states,
                 const std::vector<EncoderSequence>& sequences,
                 int64_t hidden) {
  constexpr size_t kMostSequences = 8;
  constexpr int64_t kMostFeatures = 6;
  const int64_t features = std::min(hidden, kMostFeatures);
  const float* at = states.data();
  for (size_t i = 0; i < std::min(sequences.size(), kMostSequences); ++i) {
    const int64_t tokens = static_cast<int64_t>(sequences[i].ids.size());
    printf("%-13s%lld x %lld", i == 0 ? "states" : "",
           static_cast<long long>(tokens), static_cast<long long>(hidden));
    for (int64_t feature = 0; feature < features; ++feature) {
      printf("%s %.6g", feature == 0 ? ", the first token's" : "", at[feature]);
    }
    printf("%s\n", features < hidden ? " ..." : "");
    at += tokens * hidden;
  }
  if (sequences.size() > kMostSequences) {
    printf("%-13s... and %d more sequences\n", "",
           static_cast<int>(sequences.size() - kMostSequences));
  }
  if (absl::GetFlag(FLAGS_output).empty()) {
    printf("%-13sall of them: --output=FILE, floats\n", "");
  }
}

// Refuses what only a decoder has.
absl::Status CheckEncoderRequest(const Request& request) {
  if (request.generate.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.directory,
        ": --generate goes with a decoder, and this "
        "is an encoder, which generates no tokens; leave --generate out"));
  }
  if (request.cache_type != CacheType::kF32) {
    return absl::InvalidArgumentError(absl::StrCat(
        request.directory,
        ": --cache_type goes with a decoder, and this is an encoder: it keeps "
        "no keys and values; leave --cache_type out"));
  }
  return absl::OkStatus();
}

absl::Status RunEncoder(const Request& request) {
  const absl::Status taken = CheckEncoderRequest(request);
  if (!taken.ok()) return taken;
  RunMemory memory = RunMemory::Read();
  const auto backend = lowmem_internal::FindBackend(
      request.backend, ComputeWeightBytes(request.directory), memory);
  if (!backend.ok()) return backend.status();
  const auto encoder =
      Encoder::Open(request.directory, *backend, request.arithmetic);
  if (!encoder.ok()) return encoder.status();
  const std::vector<Weight> matrices =
      MultipliedMatrices((*encoder)->weights());
  const absl::Status arithmetic =
      lowmem_internal::CheckArithmetic(request.arithmetic, matrices);
  if (!arithmetic.ok()) return arithmetic;
  // The resident backend has read all weights, so there is less free memory.
  if (*backend == WeightBackend::kResident) memory = RunMemory::Read();
  // Plans the run.
  const EncoderConfig& config = (*encoder)->config();
  const int64_t tokens = request.tokens();
  const int64_t count = request.sequence_count();
  const auto budget = lowmem_internal::FindBudget(
      request.budget, memory,
      (*encoder)->MinBudgetBytes(tokens, request.threads, count),
      [&] { return (*encoder)->ChooseBudget(tokens, request.threads, count); },
      request.ids_bytes());
  if (!budget.ok()) return budget.status();
  const auto plan =
      (*encoder)->Plan(tokens, request.threads, budget->bytes, count);
  if (!plan.ok()) return plan.status();
  const absl::Status room = CheckMemory(request, memory, plan->peak_bytes);
  if (!room.ok()) return room;
  // Runs the model.
  const std::vector<Ids> ids = InputSequences(request, config.vocabulary);
  std::vector<EncoderSequence> sequences;
  for (const Ids& one : ids) sequences.push_back({one, {}});
  const ReadBound bound = (*encoder)->ComputeReadBound(*plan);
  const absl::Status bounded = PrintReadBound((*encoder)->store(), bound);
  if (!bounded.ok()) return bounded;
  const auto run = (*encoder)->Start(*plan);
  if (!run.ok()) return run.status();
  ReleaseProgramPages();
  absl::Span<const float> states;
  for (int i = 0; i < request.repeat; ++i) {
    const double begin = ProcessorSeconds();
    const auto pass = (*run)->ForwardBatch(sequences);
    if (!pass.ok()) return pass.status();
    states = *pass;
    PrintTimes(**run, config, sequences, ProcessorSeconds() - begin);
  }
  // Prints the figures and, if too much was read, how to avoid that.
  PrintArena(*budget, plan->peak_bytes, (*run)->ResidentArenaBytes(),
             absl::StrCat("tiles of ", FormatRoundedBytes(plan->tile_bytes),
                          ", ", plan->chunk_features, " features"));
  PrintArithmetic(request.arithmetic, matrices);
  PrintProcess((*encoder)->store(), (*run)->ReadingDescription());
  PrintReadRatio((*encoder)->store(), bound, request.repeat);
  PrintUnused(
      UnusedTensors((*encoder)->store(), TensorsToPin((*encoder)->weights())));
  PrintThrashing((*encoder)->store(), memory, plan->peak_bytes);
  // Panels are used one row at a time, so every budget has room for them.
  if (ReadsTooMuch((*encoder)->store())) {
    PrintAdvice((*encoder)->store(), plan->budget_bytes, 0);
  }
  PrintStates(states, sequences, config.hidden);
  return WriteOutput({states});
}

// Prints the times of the first step and of the further ones.
void PrintStepTimes(const std::vector<double>& seconds, int64_t prompt_tokens,
                    size_t sequences) {
  printf("time         %.4f s for the input of %lld tokens\n", seconds[0],
         static_cast<long long>(prompt_tokens));
  if (seconds.size() == 1) return;
  std::vector<double> later(seconds.begin() + 1, seconds.end());
  std::sort(later.begin(), later.end());
  const double median = later[later.size() / 2];
  printf(
      "             %.4f s for each further token%s (median), %.2f a second\n",
      median, sequences == 1 ? "" : " of all sequences",
      static_cast<double>(sequences) / median);
}

// Runs the model on the prompts, generates `count` tokens after each over
// shared readings of the weights, and prints the tokens and the times.
absl::Status Generate(DecoderRun& run, const std::vector<Ids>& prompts,
                      int64_t count, int64_t layers) {
  std::vector<Ids> generated(prompts.size());
  std::vector<double> seconds;
  int64_t prompt_tokens = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<SequenceTokens> inputs;
    for (size_t j = 0; j < prompts.size(); ++j) {
      const absl::Span<const int32_t> last = absl::MakeConstSpan(generated[j]);
      inputs.push_back(
          {static_cast<int64_t>(j), i == 0 ? prompts[j] : last.last(1)});
      if (i == 0) prompt_tokens += static_cast<int64_t>(prompts[j].size());
    }
    const absl::Status status = run.AppendTogether(inputs);
    if (!status.ok()) {
      if (i > 0) printf("\n");
      return status;
    }
    for (const SequenceTokens& input : inputs) {
      generated[input.sequence].push_back(
          TokenSampler({}).Choose(run.LogitsOf(input.sequence)));
    }
    // The tokens of one sequence are seen while they come.
    if (prompts.size() == 1) {
      printf("%s %d", i == 0 ? "tokens      " : "", generated[0].back());
      fflush(stdout);
    }
    seconds.push_back(Seconds(run.step_nanoseconds()));
  }
  if (prompts.size() == 1) {
    printf("\n");
  } else {
    for (size_t j = 0; j < prompts.size(); ++j) {
      printf("%-13s%s\n", j == 0 ? "tokens" : "",
             absl::StrJoin(generated[j], " ").c_str());
    }
  }
  PrintStepTimes(seconds, prompt_tokens, prompts.size());
  PrintSteps(run.step_nanoseconds(), layers);
  return absl::OkStatus();
}

// Returns the least budget, in whole pages, with which the tiles for products
// of many tokens hold a block of rows of a whole panel.
absl::StatusOr<int64_t> PanelBudget(const Decoder& decoder, int64_t positions,
                                    int threads, int64_t sequences) {
  absl::Status status;
  const auto has_room = [&](int64_t budget_bytes) {
    const auto plan = decoder.Plan(positions, threads, budget_bytes, sequences);
    status.Update(plan.status());
    return !plan.ok() ||
           plan->tile_bytes >=
               plan->request.needs.BytesOf(
                   lowmem_internal::OutputUnit(plan->request.config) *
                   kSumBlock);
  };
  const auto least = decoder.MinBudgetBytes(positions, threads, sequences);
  if (!least.ok() || has_room(*least)) return least;
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

// Refuses a count that alone exceeds the model's positions, so that the sum of
// both does not overflow. The plan refuses a sum that is too large.
absl::Status CheckCounts(const Request& request, int64_t generated,
                         int64_t positions) {
  const auto refuse = [&](const char* flag, int64_t count) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.directory, ": ", flag, "=", count,
                     ", but the model has ", positions, " positions"));
  };
  if (request.is_random() && request.tokens() > positions) {
    return refuse("--random_ids", request.tokens());
  }
  if (generated > positions) return refuse("--generate", generated);
  return absl::OkStatus();
}

absl::Status WriteLogits(const DecoderRun& run) {
  std::vector<absl::Span<const float>> logits;
  for (int64_t i = 0; i < run.plan().request.sequences; ++i) {
    logits.push_back(run.LogitsOf(i));
  }
  return WriteOutput(logits);
}

absl::Status RunDecoder(const Request& request) {
  RunMemory memory = RunMemory::Read();
  const auto backend = lowmem_internal::FindBackend(
      request.backend, ComputeWeightBytes(request.directory), memory);
  if (!backend.ok()) return backend.status();
  DecoderOptions options;
  options.arithmetic = request.arithmetic;
  options.cache_type = request.cache_type;
  const auto decoder = Decoder::Open(request.directory, *backend, options);
  if (!decoder.ok()) return decoder.status();
  const std::vector<Weight> matrices =
      MultipliedMatrices((*decoder)->weights());
  const absl::Status arithmetic =
      lowmem_internal::CheckArithmetic(request.arithmetic, matrices);
  if (!arithmetic.ok()) return arithmetic;
  // The resident backend has read all weights, so there is less free memory.
  if (*backend == WeightBackend::kResident) memory = RunMemory::Read();
  // Plans the run. The last generated token is not read, so it needs no
  // position.
  const DecoderConfig& config = (*decoder)->config();
  const int64_t generated = request.generate.value_or(1);
  const int threads = request.threads;
  const absl::Status counts = CheckCounts(request, generated, config.positions);
  if (!counts.ok()) return counts;
  const int64_t positions = request.tokens() + generated - 1;
  const int64_t sequences = request.sequence_count();
  const auto budget = lowmem_internal::FindBudget(
      request.budget, memory,
      (*decoder)->MinBudgetBytes(positions, threads, sequences),
      [&] {
        return (*decoder)->ChooseBudget(request.tokens(), generated, threads,
                                        sequences);
      },
      request.ids_bytes());
  if (!budget.ok()) return budget.status();
  const auto plan =
      (*decoder)->Plan(positions, threads, budget->bytes, sequences);
  if (!plan.ok()) return plan.status();
  const absl::Status room = CheckMemory(request, memory, plan->peak_bytes);
  if (!room.ok()) return room;
  // Runs the model.
  const std::vector<Ids> ids = InputSequences(request, config.vocabulary);
  const ReadBound bound = (*decoder)->ComputeReadBound(*plan);
  const absl::Status bounded =
      PrintReadBound((*decoder)->store(), bound, sequences);
  if (!bounded.ok()) return bounded;
  const auto run = (*decoder)->Start(*plan);
  if (!run.ok()) return run.status();
  ReleaseProgramPages();
  for (int i = 0; i < request.repeat; ++i) {
    for (int64_t j = 0; j < sequences; ++j) (*run)->ClearSequence(j);
    const absl::Status status = Generate(**run, ids, generated, config.layers);
    if (!status.ok()) return status;
  }
  const absl::Status written = WriteLogits(**run);
  if (!written.ok()) return written;
  // Prints the figures and, if too much was read, how to avoid that.
  PrintArena(
      *budget, plan->peak_bytes, (*run)->ResidentArenaBytes(),
      absl::StrCat(FormatRoundedBytes(plan->cache.size_bytes),
                   " of keys and values in ", CacheTypeName(request.cache_type),
                   ", tiles of ", FormatRoundedBytes(plan->tile_bytes), ", ",
                   plan->chunk_tokens, " tokens and ", plan->chunk_features,
                   " features at a time"));
  PrintArithmetic(request.arithmetic, matrices);
  PrintProcess((*decoder)->store(), (*run)->ReadingDescription());
  PrintReadRatio((*decoder)->store(), bound, (*run)->passes());
  PrintUnused(
      UnusedTensors((*decoder)->store(), TensorsToPin((*decoder)->weights())));
  PrintThrashing((*decoder)->store(), memory, plan->peak_bytes);
  if (!ReadsTooMuch((*decoder)->store())) return absl::OkStatus();
  const auto panel_budget =
      PanelBudget(**decoder, positions, threads, sequences);
  if (!panel_budget.ok()) return panel_budget.status();
  PrintAdvice((*decoder)->store(), plan->budget_bytes, *panel_budget);
  return absl::OkStatus();
}

absl::Status Run(const Request& request) {
  const absl::Status output = CheckOutput(request);
  if (!output.ok()) return output;
  lowmem_internal::NoteUnreadWeights("lowmem_run", request.directory);
  // Only decoders are read from GGUF files.
  if (IsModelFile(request.directory)) return RunDecoder(request);
  const std::string path = request.directory + "/config.json";
  const auto text = ReadConfigText(path);
  if (!text.ok()) return text.status();
  auto config = ConfigReader::Parse(*text, path);
  if (!config.ok()) return config.status();
  const ModelFamily family = FindModelFamily(*config);
  if (!config->status().ok()) return config->status();
  return IsDecoderFamily(family) ? RunDecoder(request) : RunEncoder(request);
}

int Main(const std::vector<char*>& arguments) {
  Request request;
  return lowmem_internal::RunOnFolder(
      "lowmem_run", arguments, [&] { return ReadFlags(&request); },
      [&](const std::string& directory) {
        request.directory = directory;
        return Run(request);
      });
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_run MODEL_DIR --ids=101,7592,102 [--budget=16MiB] "
      "[--generate=20]\n"
      "Runs a model on token ids. MODEL_DIR is a folder with config.json and\n"
      "model.safetensors, or a GGUF file. Weights in several files, with\n"
      "model.safetensors.index.json, are read in place.\n"
      "Pack the weights of a folder once:\n"
      "  lowmem_pack MODEL_DIR/model.safetensors MODEL_DIR/model.safetensors\n"
      "In a published file, a block of columns is read row by row, and\n"
      "--backend=direct reads a whole block of the disk for each row. This\n"
      "can be many times slower.");
  return footprint::Main(footprint::lowmem_internal::ParseFlags(argc, argv));
}
