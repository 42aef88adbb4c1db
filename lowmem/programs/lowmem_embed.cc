// Computes vectors of texts with a sentence-transformers model, or scores of
// texts with a classifier or reranker, inside a budget of bytes.
//
//   lowmem_embed all-MiniLM-L6-v2 --text="A cat sat on the mat."
//   lowmem_embed all-MiniLM-L6-v2 --file=lines.txt --output=vectors.npy
//   lowmem_embed bge-reranker-base --scores=sigmoid --query="Which cat?"
//       --file=answers.txt
//
// Prints a line of JSON for each text, or writes them all to a file with
// --output: .npy (for numpy), .f32 (floats without a header, little-endian) or
// .jsonl. Time and memory go to standard error. Lines are read one by one, so a
// million take no more memory than one. Exit codes are those of command_line.h.
// 1: the model, a text or the budget does not work; the error says why. 2: the
// command line is wrong.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "footprint/base/files/atomic_file.h"
#include "footprint/base/files/same_file.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/base/text/progress_bar.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/models/sentence_pooling.h"
#include "footprint/lowmem/models/text_embedder.h"
#include "footprint/lowmem/programs/command_line.h"
#include "footprint/lowmem/programs/program_pages.h"
#include "footprint/lowmem/programs/run_budget.h"
#include "footprint/lowmem/programs/run_memory.h"
#include "footprint/lowmem/programs/text_flag.h"
#include "footprint/lowmem/programs/text_lines.h"
#include "footprint/lowmem/text/text_template.h"
#include "footprint/lowmem/weights/weight_store.h"

ABSL_FLAG(footprint::lowmem_internal::TextFlag, text, {}, "the text");
ABSL_FLAG(std::string, file, "", "a file with one text on each line");
ABSL_FLAG(std::string, scores, "",
          "print scores of a classifier or reranker instead of vectors: logits "
          "unchanged, sigmoid of each logit, or softmax over a text's logits");
ABSL_FLAG(footprint::lowmem_internal::TextFlag, query, {},
          "with --scores: the first text of each pair; --text, or a line of "
          "--file, is the second");
ABSL_FLAG(std::string, prompt_name, "",
          "put this prompt of config_sentence_transformers.json before each "
          "text, such as query");
ABSL_FLAG(std::string, output, "",
          "file for the results, which ends in .npy, .f32 or .jsonl; default: "
          "lines of JSON on standard output");
ABSL_FLAG(bool, force, false, "replace the file that --output names");
ABSL_FLAG(std::string, budget, "",
          "memory for activations, workspace and weights in flight, such as "
          "4MiB, or \"least\" for the smallest budget that works; default: "
          "chosen as by lowmem_run");
ABSL_FLAG(std::string, backend, "auto",
          "how weights are read: resident, pread, direct or mmap; auto chooses "
          "as lowmem_run does");
ABSL_FLAG(std::string, arithmetic, "exact",
          "how quantised matrices are multiplied: exact keeps activations as "
          "floats; int8 rounds them to eight bits, which is faster and less "
          "exact");
ABSL_FLAG(int, threads, 2, "number of threads that compute");
ABSL_FLAG(bool, statistics, true,
          "print the time and memory of the run on standard error");

namespace footprint {
namespace {

using lowmem_internal::RunMemory;
using lowmem_internal::TextLines;

// The texts of the command line, which can be read more than once.
class Texts {
 public:
  virtual ~Texts() = default;
  // Calls visit(number of the line, text) until it fails.
  virtual absl::Status ForEach(
      const std::function<absl::Status(int64_t, absl::string_view)>& visit)
      const = 0;
  // "lines.txt: line 7: ", for an error.
  virtual std::string Place(int64_t line) const = 0;
};

class OneText : public Texts {
 public:
  explicit OneText(std::string text) : text_(std::move(text)) {}
  absl::Status ForEach(
      const std::function<absl::Status(int64_t, absl::string_view)>& visit)
      const override {
    return visit(1, text_);
  }
  std::string Place(int64_t /*line*/) const override { return "--text: "; }

 private:
  const std::string text_;
};

class Lines : public Texts {
 public:
  explicit Lines(std::string path) : path_(std::move(path)) {}
  absl::Status ForEach(
      const std::function<absl::Status(int64_t, absl::string_view)>& visit)
      const override {
    auto lines = TextLines::Open(path_, /*is_json=*/false);
    if (!lines.ok()) return lines.status();
    while (lines->Next()) {
      const absl::StatusOr<std::string> line = lines->Text();
      if (!line.ok()) {
        return absl::Status(
            line.status().code(),
            absl::StrCat(lines->Place(), line.status().message()));
      }
      const absl::Status status = visit(lines->number(), *line);
      if (!status.ok()) return status;
    }
    return lines->status();
  }
  std::string Place(int64_t line) const override {
    return absl::StrCat(path_, ": line ", line, ": ");
  }

 private:
  const std::string path_;
};

// The destination of vectors.
class VectorOutput {
 public:
  virtual ~VectorOutput() = default;
  virtual absl::Status Add(absl::Span<const float> vector) = 0;
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

// Nine digits are enough to tell any two floats apart.
std::string JsonLine(absl::Span<const float> vector) {
  std::string line;
  for (const float x : vector) {
    absl::StrAppendFormat(&line, "%s%.9g", line.empty() ? "[" : ", ", x);
  }
  return line + "]\n";
}

class StandardOutput : public VectorOutput {
 public:
  absl::Status Add(absl::Span<const float> vector) override {
    fputs(JsonLine(vector).c_str(), stdout);
    return absl::OkStatus();
  }
};

class FileOutput : public VectorOutput {
 public:
  FileOutput(AtomicFile file, bool is_json)
      : file_(std::move(file)), is_json_(is_json) {}

  absl::Status Add(absl::Span<const float> vector) override {
    if (is_json_) return file_.Append(JsonLine(vector));
    return file_.Append({reinterpret_cast<const char*>(vector.data()),
                         vector.size() * sizeof(float)});
  }
  absl::Status Finish() override { return file_.Commit(); }

 private:
  AtomicFile file_;
  const bool is_json_;
};

// Returns the header of a .npy file, version 1, whose size is a multiple of 64
// bytes.
std::string NumpyHeader(int64_t rows, int64_t columns) {
  std::string header = absl::StrFormat(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows,
      columns);
  constexpr size_t kBefore = 10;
  constexpr size_t kAlignment = 64;
  const size_t whole =
      (kBefore + header.size() + kAlignment) / kAlignment * kAlignment;
  header.resize(whole - kBefore - 1, ' ');
  header += '\n';
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

bool IsOutputName(absl::string_view path) {
  for (const char* end : {".npy", ".f32", ".jsonl"}) {
    if (absl::EndsWith(path, end)) return true;
  }
  return false;
}

absl::Status CheckOutput(const std::string& directory) {
  const std::string path = absl::GetFlag(FLAGS_output);
  if (path.empty()) return absl::OkStatus();
  std::vector<std::string> inputs = {absl::GetFlag(FLAGS_file)};
  // A link may lead from the output to a file of the model.
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(directory, error),
       end;
       !error && entry != end; entry.increment(error)) {
    if (!IsOutputName(entry->path().string())) {
      inputs.push_back(entry->path().string());
    }
  }
  for (const std::string& input : inputs) {
    if (input.empty() || !IsSameFile(path, input)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--output: ", path, " is an input, which it would replace"));
  }
  return lowmem_internal::CheckNotThere(path, absl::GetFlag(FLAGS_force));
}

absl::StatusOr<std::unique_ptr<VectorOutput>> OpenOutput(int64_t texts,
                                                         int64_t features) {
  const std::string path = absl::GetFlag(FLAGS_output);
  if (path.empty()) {
    return std::unique_ptr<VectorOutput>(std::make_unique<StandardOutput>());
  }
  AtomicFileOptions options;
  absl::StatusOr<AtomicFile> file = AtomicFile::Create(path, options);
  if (!file.ok()) return file.status();
  if (absl::EndsWith(path, ".npy")) {
    const absl::Status status = file->Append(NumpyHeader(texts, features));
    if (!status.ok()) return status;
  }
  return std::unique_ptr<VectorOutput>(std::make_unique<FileOutput>(
      *std::move(file), absl::EndsWith(path, ".jsonl")));
}

absl::Status CheckFlags() {
  const bool has_text = absl::GetFlag(FLAGS_text).text.has_value();
  if (has_text == !absl::GetFlag(FLAGS_file).empty()) {
    return absl::InvalidArgumentError(
        "give one of --text and --file; see --help");
  }
  const std::string scores = absl::GetFlag(FLAGS_scores);
  if (!scores.empty() && scores != "logits" && scores != "sigmoid" &&
      scores != "softmax") {
    return absl::InvalidArgumentError(absl::StrCat(
        "--scores: \"", scores, "\" is none of logits, sigmoid and softmax"));
  }
  if (scores.empty() && absl::GetFlag(FLAGS_query).text.has_value()) {
    return absl::InvalidArgumentError(
        "--query: a pair of texts has scores, no vector; give --scores, too");
  }
  const std::string output = absl::GetFlag(FLAGS_output);
  if (!output.empty() && !IsOutputName(output)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--output: ", output,
                     " ends in none of .npy, .f32 and "
                     ".jsonl"));
  }
  absl::Status status =
      lowmem_internal::CheckThreads(absl::GetFlag(FLAGS_threads));
  status.Update(
      lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)).status());
  status.Update(
      lowmem_internal::ParseArithmetic(absl::GetFlag(FLAGS_arithmetic))
          .status());
  if (!status.ok()) return status;
  return lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget)).status();
}

absl::StatusOr<TypedIds> EncodeText(const TextEmbedder& embedder,
                                    absl::string_view text, bool* is_cut) {
  const absl::optional<std::string> query = absl::GetFlag(FLAGS_query).text;
  return query.has_value() ? embedder.EncodePair(*query, text, is_cut)
                           : embedder.Encode(text, is_cut);
}

// Turns logits into the numbers that --scores asks for.
std::vector<float> Scores(absl::Span<const float> logits) {
  std::vector<float> scores(logits.begin(), logits.end());
  const std::string kind = absl::GetFlag(FLAGS_scores);
  if (kind == "sigmoid") {
    for (float& x : scores) {
      x = static_cast<float>(1 / (1 + std::exp(-static_cast<double>(x))));
    }
  } else if (kind == "softmax") {
    const double largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float x : logits) sum += std::exp(x - largest);
    for (float& x : scores) {
      x = static_cast<float>(std::exp(x - largest) / sum);
    }
  }
  return scores;
}

// The sizes of all texts together.
struct Extent {
  int64_t texts = 0;
  int64_t cut = 0;
  int64_t tokens = 0;   // in all texts
  int64_t longest = 0;  // tokens in the longest text
};

absl::StatusOr<Extent> Measure(const TextEmbedder& embedder,
                               const Texts& texts) {
  Extent extent;
  const absl::Status status =
      texts.ForEach([&](int64_t line, absl::string_view text) {
        bool is_cut = false;
        const auto ids = EncodeText(embedder, text, &is_cut);
        if (!ids.ok()) {
          return absl::Status(
              ids.status().code(),
              absl::StrCat(texts.Place(line), ids.status().message()));
        }
        const auto tokens = static_cast<int64_t>(ids->ids.size());
        ++extent.texts;
        extent.cut += is_cut ? 1 : 0;
        extent.tokens += tokens;
        extent.longest = std::max(extent.longest, tokens);
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  if (extent.texts == 0) {
    return absl::InvalidArgumentError("--file: there is no line");
  }
  return extent;
}

absl::Status StartEmbedder(const RunMemory& memory, int64_t tokens,
                           TextEmbedder* embedder) {
  const int threads = absl::GetFlag(FLAGS_threads);
  const auto budget = lowmem_internal::FindBudget(
      *lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget)), memory,
      embedder->MinBudgetBytes(tokens, threads),
      [&] { return embedder->ChooseBudget(tokens, threads); });
  if (!budget.ok()) return budget.status();
  return embedder->Start(
      tokens, threads, budget->bytes, [&](int64_t peak_bytes) {
        return memory.CheckRoom(absl::StrCat("a text of ", tokens, " tokens"),
                                peak_bytes);
      });
}

absl::Status EmbedAll(const Texts& texts, const Extent& extent,
                      TextEmbedder* embedder, VectorOutput* output) {
  ProgressBar bar(stderr, "embedding", "texts");
  int64_t done = 0;
  const absl::Status status =
      texts.ForEach([&](int64_t line, absl::string_view text) {
        bool is_cut = false;
        const auto ids = EncodeText(*embedder, text, &is_cut);
        if (!ids.ok()) return ids.status();
        const auto vector = embedder->Embed(*ids);
        if (!vector.ok()) {
          return absl::Status(
              vector.status().code(),
              absl::StrCat(texts.Place(line), vector.status().message()));
        }
        ++done;
        if (extent.texts > 1) bar.Update(done, extent.texts);
        return output->Add(Scores(*vector));
      });
  if (!status.ok() || done == extent.texts) return status;
  return absl::DataLossError(absl::StrCat("--file: had ", extent.texts,
                                          " lines, and then ", done,
                                          ": it was written to meanwhile"));
}

void PrintStatistics(const TextEmbedder& embedder, const Extent& extent,
                     double seconds) {
  if (!absl::GetFlag(FLAGS_statistics)) return;
  fprintf(stderr,
          "lowmem_embed: %lld %s of %lld tokens in %.2f s, %s of %lld; "
          "process %s at most, %s read from the file\n",
          static_cast<long long>(extent.texts),
          extent.texts == 1 ? "text" : "texts",
          static_cast<long long>(extent.tokens), seconds,
          absl::GetFlag(FLAGS_scores).empty() ? "vectors" : "scores",
          static_cast<long long>(embedder.features()),
          FormatRoundedBytes(ReadResidentBytes().peak_bytes).c_str(),
          FormatRoundedBytes(embedder.store().counters().bytes_read).c_str());
  if (extent.cut > 0) {
    fprintf(stderr,
            "lowmem_embed: %lld %s more than the %lld tokens that the model "
            "takes: %s not count\n",
            static_cast<long long>(extent.cut),
            extent.cut == 1 ? "text has" : "texts have",
            static_cast<long long>(embedder.most_tokens()),
            extent.cut == 1 ? "its end does" : "their ends do");
  }
  if (!embedder.pooling().is_stated && absl::GetFlag(FLAGS_scores).empty()) {
    fprintf(stderr,
            "lowmem_embed: the folder has no modules.json: vectors are means, "
            "not normalised\n");
  }
}

absl::Status Run(const std::string& directory) {
  const absl::Status free = CheckOutput(directory);
  if (!free.ok()) return free;
  // The weights may be in a folder that modules.json names.
  const auto pooling =
      ReadSentencePooling(directory, absl::GetFlag(FLAGS_prompt_name));
  if (!pooling.ok()) return pooling.status();
  lowmem_internal::NoteUnreadWeights("lowmem_embed", pooling->model_folder);
  RunMemory memory = RunMemory::Read();
  const auto backend = lowmem_internal::FindBackend(
      *lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)),
      ComputeWeightBytes(pooling->model_folder), memory);
  if (!backend.ok()) return backend.status();
  TextEmbedderOptions options;
  options.gives_scores = !absl::GetFlag(FLAGS_scores).empty();
  options.prompt_name = absl::GetFlag(FLAGS_prompt_name);
  options.arithmetic =
      *lowmem_internal::ParseArithmetic(absl::GetFlag(FLAGS_arithmetic));
  const auto embedder = TextEmbedder::Open(directory, *backend, options);
  if (!embedder.ok()) return embedder.status();
  const absl::Status arithmetic = lowmem_internal::CheckArithmetic(
      options.arithmetic, (*embedder)->matrices());
  if (!arithmetic.ok()) return arithmetic;
  // The resident backend has read all weights, so there is less free memory.
  if (*backend == WeightBackend::kResident) memory = RunMemory::Read();
  const absl::optional<std::string> text = absl::GetFlag(FLAGS_text).text;
  std::unique_ptr<Texts> texts;
  if (text.has_value()) {
    texts = std::make_unique<OneText>(*text);
  } else {
    texts = std::make_unique<Lines>(absl::GetFlag(FLAGS_file));
  }
  // Finds the longest text, for which the run is planned.
  const absl::StatusOr<Extent> extent = Measure(**embedder, *texts);
  if (!extent.ok()) return extent.status();
  absl::Status status = StartEmbedder(memory, extent->longest, embedder->get());
  if (!status.ok()) return status;
  const auto output = OpenOutput(extent->texts, (*embedder)->features());
  if (!output.ok()) return output.status();
  ReleaseProgramPages();
  // Embeds the texts.
  const auto begin = std::chrono::steady_clock::now();
  status = EmbedAll(*texts, *extent, embedder->get(), output->get());
  if (status.ok()) status = (*output)->Finish();
  if (!status.ok()) return status;
  PrintStatistics(
      **embedder, *extent,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count());
  return absl::OkStatus();
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_embed MODEL_DIR --text=TEXT | --file=LINES "
      "[--output=vectors.npy]\n"
      "lowmem_embed MODEL_DIR --scores=logits|sigmoid|softmax [--query=TEXT] "
      "--text=TEXT | --file=LINES\n"
      "Computes a vector for each text, or scores with --scores. MODEL_DIR is\n"
      "the folder of a sentence-transformers model, a classifier or a\n"
      "reranker, with model.safetensors, or with several files of weights and\n"
      "model.safetensors.index.json.");
  return footprint::lowmem_internal::RunOnFolder(
      "lowmem_embed", footprint::lowmem_internal::ParseFlags(argc, argv),
      footprint::CheckFlags, footprint::Run);
}
