// Answers questions or continues texts with a decoder, inside a budget of
// bytes.
//
//   lowmem_chat Qwen3-0.6B --prompt="Why is the sky blue?" --budget=32MiB
//   lowmem_chat Llama-3.2-1B-Instruct        # a conversation, line by line
//   lowmem_chat gpt2 --prompt="Once upon a time" --generate=50
//   lowmem_chat gpt2 --score="Once upon a time"   # how likely it is
//   lowmem_chat gpt2 --file=prompts.txt --budget=64MiB   # an answer to each
//   line
//
// Writes the answer to standard output while the model generates it, and its
// time and memory to standard error. With --file, several prompts share each
// reading of the weights, and each line gets a line of JSON, in order: its
// answer, which is the one that the line gets alone, or its error. The model is
// a GGUF file, or a folder with config.json, tokenizer.json, and
// model.safetensors or model.gguf. Exit codes are those of command_line.h: 0; 1
// the model, a text or the budget cannot be run (the error says why); 2 the
// command line is wrong.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/memory/resident_bytes.h"
#include "footprint/base/text/format_bytes.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/models/continuation_queue.h"
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/decoder_weights.h"
#include "footprint/lowmem/models/stop_ids.h"
#include "footprint/lowmem/models/token_scores.h"
#include "footprint/lowmem/programs/command_line.h"
#include "footprint/lowmem/programs/program_pages.h"
#include "footprint/lowmem/programs/read_certificate.h"
#include "footprint/lowmem/programs/run_budget.h"
#include "footprint/lowmem/programs/run_memory.h"
#include "footprint/lowmem/programs/text_flag.h"
#include "footprint/lowmem/programs/text_lines.h"
#include "footprint/lowmem/streaming/disk_rate.h"
#include "footprint/lowmem/streaming/read_bound.h"
#include "footprint/lowmem/text/chat_template.h"
#include "footprint/lowmem/text/text_stream.h"
#include "footprint/lowmem/text/token_sampler.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "nlohmann/json.hpp"

ABSL_FLAG(footprint::lowmem_internal::TextFlag, prompt, {},
          "the question, or the text to continue; default: each line of "
          "standard input is one turn of a conversation");
ABSL_FLAG(
    footprint::lowmem_internal::TextFlag, score, {},
    "print how likely each token of this text is: a line of JSON with its "
    "log-likelihood, given the tokens before it. One pass over the weights "
    "serves many tokens, as for a prompt");
ABSL_FLAG(std::string, file, "",
          "a file with a prompt on each line; the answers are lines of JSON");
ABSL_FLAG(bool, json, false,
          "each line of --file is a JSON string, so that a prompt may contain "
          "line breaks");
ABSL_FLAG(absl::optional<int64_t>, sequences, absl::nullopt,
          "number of prompts of --file that share each reading of the weights; "
          "default: as many as the budget allows, at most 16");
ABSL_FLAG(bool, measure_disk, false,
          "with --file and --backend=direct: measure for 0.2 s how fast the "
          "disk reads, and print how many tokens a second it allows");
ABSL_FLAG(std::string, system, "",
          "the system message, which the model reads before the question");
ABSL_FLAG(bool, raw, false,
          "continue the prompt unchanged, without the model's chat template");
ABSL_FLAG(int64_t, generate, 256, "maximum number of tokens in an answer");
ABSL_FLAG(absl::optional<int64_t>, context, absl::nullopt,
          "maximum number of tokens in all turns together; default: the tokens "
          "of the prompt and --generate, or 1024 in a conversation");
ABSL_FLAG(double, temperature, 0,
          "0 takes the most likely token; 1 draws tokens with the model's "
          "probabilities; a value between prefers likely tokens, and a value "
          "above 1 prefers them less");
ABSL_FLAG(int64_t, top_k, 0,
          "with a temperature: draw only from this many of the most likely "
          "tokens; 0 means all");
ABSL_FLAG(double, top_p, 1,
          "with a temperature: draw only from the fewest most likely tokens "
          "whose probabilities add up to this share");
ABSL_FLAG(uint64_t, seed, 1,
          "seed of the draws; the same seed gives the same answer");
ABSL_FLAG(std::string, budget, "",
          "memory for keys, values, workspace and weights in flight, such as "
          "32MiB, or \"least\" for the smallest budget that works; default: "
          "chosen as by lowmem_run");
ABSL_FLAG(std::string, backend, "auto",
          "how weights are read: resident, pread, direct or mmap; auto chooses "
          "as lowmem_run does");
ABSL_FLAG(std::string, arithmetic, "exact",
          "how quantised matrices are multiplied: exact keeps activations as "
          "floats; int8 rounds them to eight bits, which is faster and less "
          "exact");
ABSL_FLAG(std::string, cache_type, "f32",
          "how keys and values are stored: f32, or rounded to f16 or q8_0, "
          "which take 0.5 or 0.27 of the memory");
ABSL_FLAG(int, threads, 2, "number of threads that compute");
ABSL_FLAG(bool, statistics, true,
          "print the answer's time and memory on standard error");

namespace footprint {
namespace {

using lowmem_internal::RunMemory;
using lowmem_internal::TextLines;
using Ids = std::vector<int32_t>;

constexpr int64_t kConversationTokens = 1024;
// The prompts of a file that share readings, unless --sequences says otherwise.
constexpr int64_t kMostChosenSequences = 16;

absl::Status CheckFlags() {
  const auto wrong = [](absl::string_view what) {
    return absl::InvalidArgumentError(what);
  };
  const bool has_file = !absl::GetFlag(FLAGS_file).empty();
  if ((absl::GetFlag(FLAGS_score).text.has_value() ? 1 : 0) +
          (absl::GetFlag(FLAGS_prompt).text.has_value() ? 1 : 0) +
          (has_file ? 1 : 0) >
      1) {
    return wrong("give one of --prompt, --score and --file");
  }
  const absl::optional<int64_t> sequences = absl::GetFlag(FLAGS_sequences);
  if (!has_file && (sequences.has_value() || absl::GetFlag(FLAGS_json) ||
                    absl::GetFlag(FLAGS_measure_disk))) {
    return wrong("--sequences, --json and --measure_disk go with --file");
  }
  if (sequences.has_value() &&
      (*sequences < 1 || *sequences > kMostSequences)) {
    return wrong(absl::StrCat("--sequences=", *sequences, " is not from 1 to ",
                              kMostSequences));
  }
  if (absl::GetFlag(FLAGS_generate) < 1) {
    return wrong("--generate must be at least 1 token");
  }
  const absl::optional<int64_t> context = absl::GetFlag(FLAGS_context);
  if (context.has_value() && *context < 1) {
    return wrong("--context must be at least 1 token");
  }
  if (absl::GetFlag(FLAGS_raw) && !absl::GetFlag(FLAGS_system).empty()) {
    return wrong(
        "--raw sends no system message, so --system has no effect; leave one "
        "of the two out");
  }
  const double temperature = absl::GetFlag(FLAGS_temperature);
  if (!(temperature >= 0 && std::isfinite(temperature))) {
    return wrong("--temperature must be 0 or more");
  }
  if (absl::GetFlag(FLAGS_top_k) < 0) return wrong("--top_k must be 0 or more");
  const double top_p = absl::GetFlag(FLAGS_top_p);
  if (!(top_p > 0 && top_p <= 1))
    return wrong("--top_p must be above 0 and at most 1");
  absl::Status status =
      lowmem_internal::CheckThreads(absl::GetFlag(FLAGS_threads));
  status.Update(
      lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)).status());
  status.Update(
      lowmem_internal::ParseArithmetic(absl::GetFlag(FLAGS_arithmetic))
          .status());
  status.Update(lowmem_internal::ParseCacheType(absl::GetFlag(FLAGS_cache_type))
                    .status());
  if (!status.ok()) return status;
  return lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget)).status();
}

SamplingOptions Sampling() {
  SamplingOptions options;
  options.temperature = absl::GetFlag(FLAGS_temperature);
  options.top_k = absl::GetFlag(FLAGS_top_k);
  options.top_p = absl::GetFlag(FLAGS_top_p);
  options.seed = absl::GetFlag(FLAGS_seed);
  return options;
}

// The tokens and the time of one answer.
struct Answer {
  int64_t read = 0;
  int64_t generated = 0;
  double read_seconds = 0;
  double generate_seconds = 0;
  // True if the model ended the answer, and false if --generate or the end of
  // the context cut it off.
  bool has_stopped = false;
};

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A model, its tokenizer and a conversation with it.
class Chat {
 public:
  static absl::StatusOr<std::unique_ptr<Chat>> Open(
      const std::string& directory);

  // Plans and starts a conversation of at most `tokens` tokens, whose first
  // turn has about `prompt_tokens`.
  absl::Status Start(int64_t prompt_tokens, int64_t tokens);

  // Answers each line of a file. Several prompts share the readings.
  absl::Status AnswerFile(const std::string& path);

  absl::StatusOr<Ids> FirstIds(absl::string_view text) const;
  // Returns the ids of a later turn, after an answer.
  absl::StatusOr<Ids> NextIds(absl::string_view text) const;

  // Prints how likely each token of a text is. The text is not put into the
  // model's chat template.
  absl::Status Score(absl::string_view text);

  // Reads the ids and generates the answer; prints the text as it comes.
  absl::StatusOr<Answer> Say(const Ids& ids);

  bool answers() const { return template_ != nullptr; }
  int64_t positions() const { return decoder_->config().positions; }
  // Fails if a text has more tokens than the model has positions.
  absl::Status CheckFits(int64_t text_tokens) const;
  // Returns the tokens of a text that fits and of the longest answer to it. The
  // last token of an answer is not read.
  int64_t CountWithAnswer(int64_t text_tokens) const {
    return text_tokens + std::min(positions() - text_tokens,
                                  absl::GetFlag(FLAGS_generate) - 1);
  }
  void PrintStatistics(const Answer& answer) const;

 private:
  // The prompts of a file together.
  struct PromptSizes {
    int64_t lines = 0;
    int64_t usable = 0;   // without an error
    int64_t longest = 1;  // tokens of a usable one
  };
  // What was generated for a file.
  struct Answers {
    int64_t read = 0;
    int64_t generated = 0;
    int64_t failed = 0;
    std::string first_failure;
  };

  absl::StatusOr<PromptSizes> Measure(TextLines lines) const;
  // Returns the ids of the line's prompt, or why there is no answer to it.
  absl::StatusOr<Ids> PromptOf(const TextLines& lines) const;
  absl::StatusOr<lowmem_internal::Budget> FindBudget(int64_t prompt_tokens,
                                                     int64_t tokens,
                                                     int64_t sequences) const;
  // Returns the number of prompts that share readings, at most `most`.
  absl::StatusOr<int64_t> FindSequences(const PromptSizes& sizes,
                                        int64_t tokens) const;
  absl::Status StartTogether(int64_t prompt_tokens, int64_t tokens,
                             int64_t sequences);
  absl::Status PrintCertificate(const DecoderPlan& plan) const;
  void PrintAnswer(int64_t line, const Continuation& continuation,
                   Answers* answers) const;
  void PrintFileStatistics(const Answers& answers, double seconds) const;
  absl::StatusOr<Ids> Encode(absl::string_view text, SpecialIds special) const;
  bool IsStop(int32_t id) const {
    return std::find(stops_.begin(), stops_.end(), id) != stops_.end();
  }

  RunMemory memory_ = RunMemory::Read();
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Decoder> decoder_;
  const ChatTemplate* template_ = nullptr;  // null: continues texts
  Ids stops_;
  TokenSampler sampler_ = TokenSampler(Sampling());
  std::unique_ptr<DecoderRun> run_;
  int64_t planned_tokens_ = 0;
  // The last token of the last answer, which the model has not read yet.
  absl::optional<int32_t> unread_;
};

absl::StatusOr<std::unique_ptr<Chat>> Chat::Open(const std::string& directory) {
  lowmem_internal::NoteUnreadWeights("lowmem_chat", directory);
  auto chat = std::make_unique<Chat>();
  auto tokenizer = Tokenizer::Open(directory);
  if (!tokenizer.ok()) return tokenizer.status();
  chat->tokenizer_ = *std::move(tokenizer);
  const auto backend = lowmem_internal::FindBackend(
      *lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)),
      ComputeWeightBytes(directory), chat->memory_);
  if (!backend.ok()) return backend.status();
  DecoderOptions options;
  options.arithmetic =
      *lowmem_internal::ParseArithmetic(absl::GetFlag(FLAGS_arithmetic));
  options.cache_type =
      *lowmem_internal::ParseCacheType(absl::GetFlag(FLAGS_cache_type));
  auto decoder = Decoder::Open(directory, *backend, options);
  if (!decoder.ok()) return decoder.status();
  const absl::Status arithmetic = lowmem_internal::CheckArithmetic(
      options.arithmetic, MultipliedMatrices((*decoder)->weights()));
  if (!arithmetic.ok()) return arithmetic;
  chat->decoder_ = *std::move(decoder);
  // All weights are in memory now, if that is how they are read.
  if (*backend == WeightBackend::kResident) chat->memory_ = RunMemory::Read();
  if (!absl::GetFlag(FLAGS_raw)) {
    chat->template_ = FindChatTemplate(*chat->tokenizer_);
  }
  const absl::StatusOr<Ids> stops = ReadStopIds(directory);
  if (!stops.ok()) return stops.status();
  chat->stops_ = *stops;
  if (chat->template_ != nullptr) {
    const auto end = chat->tokenizer_->FindWord(chat->template_->end);
    if (end.has_value()) chat->stops_.push_back(*end);
  }
  return chat;
}

absl::StatusOr<Ids> Chat::Encode(absl::string_view text,
                                 SpecialIds special) const {
  absl::StatusOr<Ids> ids = tokenizer_->Encode(text, special);
  if (!ids.ok()) return ids;
  const int64_t vocabulary = decoder_->config().vocabulary;
  for (const int32_t id : *ids) {
    if (id < vocabulary) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the tokenizer gives id ", id, ", but the model has ",
                     vocabulary, " words: they are not of one checkpoint"));
  }
  return ids;
}

absl::StatusOr<Ids> Chat::FirstIds(absl::string_view text) const {
  if (template_ == nullptr) return Encode(text, SpecialIds::kInclude);
  return Encode(FirstTurn(*template_, absl::GetFlag(FLAGS_system), text),
                SpecialIds::kLeaveOut);
}

absl::StatusOr<Ids> Chat::NextIds(absl::string_view text) const {
  Ids ids;
  if (unread_.has_value()) ids.push_back(*unread_);
  const absl::StatusOr<Ids> turn =
      template_ == nullptr
          ? Encode(text, SpecialIds::kLeaveOut)
          : Encode(NextTurn(*template_, text), SpecialIds::kLeaveOut);
  if (!turn.ok()) return turn.status();
  if (template_ != nullptr && (!unread_.has_value() || !IsStop(*unread_))) {
    const auto end = tokenizer_->FindWord(template_->end);
    if (end.has_value()) ids.push_back(*end);
  }
  ids.insert(ids.end(), turn->begin(), turn->end());
  return ids;
}

absl::StatusOr<lowmem_internal::Budget> Chat::FindBudget(
    int64_t prompt_tokens, int64_t tokens, int64_t sequences) const {
  const int threads = absl::GetFlag(FLAGS_threads);
  const int64_t prompt = std::min(prompt_tokens, tokens);
  return lowmem_internal::FindBudget(
      *lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget)), memory_,
      decoder_->MinBudgetBytes(tokens, threads, sequences), [&] {
        return decoder_->ChooseBudget(prompt, tokens - prompt + 1, threads,
                                      sequences);
      });
}

absl::Status Chat::CheckFits(int64_t text_tokens) const {
  if (text_tokens <= positions()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the text takes ", text_tokens, " positions, but the model has ",
      positions(), ": give a shorter text"));
}

absl::Status Chat::Start(int64_t prompt_tokens, int64_t tokens) {
  return StartTogether(prompt_tokens, tokens, /*sequences=*/1);
}

absl::Status Chat::StartTogether(int64_t prompt_tokens, int64_t tokens,
                                 int64_t sequences) {
  if (tokens > positions()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tokens, " tokens, but the model has ", positions(),
                     " positions: give a smaller --context"));
  }
  const auto budget = FindBudget(prompt_tokens, tokens, sequences);
  if (!budget.ok()) return budget.status();
  const auto plan = decoder_->Plan(tokens, absl::GetFlag(FLAGS_threads),
                                   budget->bytes, sequences);
  if (!plan.ok()) return plan.status();
  const absl::Status room = memory_.CheckRoom(
      absl::StrCat("a conversation of ", tokens, " tokens"), plan->peak_bytes);
  if (!room.ok()) return room;
  if (!absl::GetFlag(FLAGS_file).empty()) {
    const absl::Status certified = PrintCertificate(*plan);
    if (!certified.ok()) return certified;
  }
  auto run = decoder_->Start(*plan);
  if (!run.ok()) return run.status();
  run_ = *std::move(run);
  planned_tokens_ = tokens;
  ReleaseProgramPages();
  return absl::OkStatus();
}

absl::StatusOr<Answer> Chat::Say(const Ids& ids) {
  Answer answer;
  answer.read = static_cast<int64_t>(ids.size());
  if (run_->tokens() + answer.read > planned_tokens_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the conversation has ", run_->tokens() + answer.read,
                     " tokens, and room is for ", planned_tokens_,
                     ": give a larger --context, up to ", positions()));
  }
  TextStream stream(tokenizer_.get());
  double begin = Seconds();
  auto logits = run_->Append(ids);
  if (!logits.ok()) return logits.status();
  answer.read_seconds = Seconds() - begin;
  begin = Seconds();
  const int64_t most = absl::GetFlag(FLAGS_generate);
  while (true) {
    const int32_t id = sampler_.Choose(*logits);
    unread_ = id;
    ++answer.generated;
    answer.has_stopped = IsStop(id);
    if (answer.has_stopped) break;
    fputs(stream.Add(id).c_str(), stdout);
    fflush(stdout);
    if (answer.generated == most || run_->tokens() == planned_tokens_) break;
    logits = run_->Append({&id, 1});
    if (!logits.ok()) return logits.status();
  }
  answer.generate_seconds = Seconds() - begin;
  printf("%s\n", stream.Finish().c_str());
  fflush(stdout);
  return answer;
}

absl::Status Chat::Score(absl::string_view text) {
  const absl::StatusOr<Ids> ids = Encode(text, SpecialIds::kInclude);
  if (!ids.ok()) return ids.status();
  if (ids->size() < 2) {
    return absl::InvalidArgumentError(
        "--score: the text has fewer than two tokens, and the first has no "
        "likelihood; give a longer text");
  }
  const auto tokens = static_cast<int64_t>(ids->size()) - 1;
  const absl::Status fits = CheckFits(tokens);
  if (!fits.ok()) return fits;
  const absl::Status started = Start(/*prompt_tokens=*/tokens, tokens);
  if (!started.ok()) return started;
  const absl::StatusOr<std::vector<double>> scores = ScoreTokens(*run_, *ids);
  if (!scores.ok()) return scores.status();
  double sum = 0;
  for (size_t i = 0; i < ids->size(); ++i) {
    const int32_t id = (*ids)[i];
    nlohmann::json line = {
        {"id", id},
        {"text", tokenizer_->Decode({id}, SpecialIds::kInclude)},
        // No token stands before the first one, so it has no likelihood.
        {"log_likelihood", nullptr}};
    if (i > 0) {
      line["log_likelihood"] = (*scores)[i - 1];
      sum += (*scores)[i - 1];
    }
    printf("%s\n", line.dump(-1, ' ', /*ensure_ascii=*/false,
                             nlohmann::json::error_handler_t::replace)
                       .c_str());
  }
  if (absl::GetFlag(FLAGS_statistics)) {
    fprintf(
        stderr,
        "lowmem_chat: %lld tokens have log-likelihood %.6g, perplexity "
        "%.6g; process %s at most, %s read from the file\n",
        static_cast<long long>(tokens), sum,
        std::exp(-sum / static_cast<double>(tokens)),
        FormatRoundedBytes(ReadResidentBytes().peak_bytes).c_str(),
        FormatRoundedBytes(decoder_->store().counters().bytes_read).c_str());
  }
  return absl::OkStatus();
}

void Chat::PrintStatistics(const Answer& answer) const {
  if (!absl::GetFlag(FLAGS_statistics)) return;
  const WeightCounters counters = decoder_->store().counters();
  fprintf(stderr,
          "lowmem_chat: %lld tokens read in %.2f s, %lld generated in %.2f s "
          "(%.2f a second)%s; process %s at most, %s read from the file\n",
          static_cast<long long>(answer.read), answer.read_seconds,
          static_cast<long long>(answer.generated), answer.generate_seconds,
          answer.generate_seconds > 0
              ? static_cast<double>(answer.generated) / answer.generate_seconds
              : 0.0,
          answer.has_stopped ? "" : ", cut off",
          FormatRoundedBytes(ReadResidentBytes().peak_bytes).c_str(),
          FormatRoundedBytes(counters.bytes_read).c_str());
}

absl::StatusOr<Ids> Chat::PromptOf(const TextLines& lines) const {
  const absl::StatusOr<std::string> text = lines.Text();
  if (!text.ok()) return text.status();
  if (text->empty()) return absl::InvalidArgumentError("the prompt is empty");
  absl::StatusOr<Ids> ids = FirstIds(*text);
  if (!ids.ok()) return ids;
  const int64_t most = absl::GetFlag(FLAGS_context).value_or(positions());
  if (static_cast<int64_t>(ids->size()) <= most) return ids;
  return absl::InvalidArgumentError(absl::StrCat(
      "the prompt has ", ids->size(), " tokens, but ",
      most < positions() ? "--context is " : "the model's positions are ",
      most));
}

absl::StatusOr<Chat::PromptSizes> Chat::Measure(TextLines lines) const {
  PromptSizes sizes;
  while (lines.Next()) {
    ++sizes.lines;
    const absl::StatusOr<Ids> ids = PromptOf(lines);
    if (!ids.ok()) continue;
    ++sizes.usable;
    sizes.longest = std::max(sizes.longest, static_cast<int64_t>(ids->size()));
  }
  if (!lines.status().ok()) return lines.status();
  if (sizes.lines == 0) {
    return absl::InvalidArgumentError("--file: there is no line");
  }
  return sizes;
}

absl::StatusOr<int64_t> Chat::FindSequences(const PromptSizes& sizes,
                                            int64_t tokens) const {
  const absl::optional<int64_t> given = absl::GetFlag(FLAGS_sequences);
  // More places than prompts would only take memory.
  const int64_t most = std::max<int64_t>(
      1, std::min(sizes.usable, given.value_or(kMostChosenSequences)));
  if (given.has_value()) return most;
  const auto budget =
      *lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget));
  if (budget.takes_least) return 1;
  if (budget.bytes.has_value()) {
    const auto fitting = decoder_->MostSequences(
        tokens, absl::GetFlag(FLAGS_threads), *budget.bytes);
    if (!fitting.ok()) return fitting;
    return std::max<int64_t>(1, std::min(most, *fitting));
  }
  int64_t sequences = most;
  while (sequences > 1 && !FindBudget(sizes.longest, tokens, sequences).ok()) {
    sequences /= 2;
  }
  return sequences;
}

absl::Status Chat::PrintCertificate(const DecoderPlan& plan) const {
  if (!absl::GetFlag(FLAGS_statistics)) return absl::OkStatus();
  const ReadBound bound = decoder_->ComputeReadBound(plan);
  const int64_t sequences = plan.request.sequences;
  fprintf(stderr, "together     %lld prompts of at most %lld tokens\n%s\n",
          static_cast<long long>(sequences),
          static_cast<long long>(plan.request.positions),
          lowmem_internal::BoundLine(bound, sequences).c_str());
  if (!absl::GetFlag(FLAGS_measure_disk)) return absl::OkStatus();
  const absl::StatusOr<int64_t> rate = MeasureDiskRate(decoder_->store());
  if (!rate.ok()) return rate.status();
  fprintf(stderr, "%s\n",
          lowmem_internal::DiskLine(*rate, bound, sequences).c_str());
  return absl::OkStatus();
}

void Chat::PrintAnswer(int64_t line, const Continuation& continuation,
                       Answers* answers) const {
  nlohmann::json json = {{"line", line}};
  if (continuation.status.ok()) {
    TextStream stream(tokenizer_.get());
    std::string text;
    for (const int32_t id : continuation.ids) {
      if (!IsStop(id)) text += stream.Add(id);
    }
    json["text"] = text + stream.Finish();
    json["tokens"] = continuation.ids.size();
    json["cut_off"] = !continuation.has_stopped;
    answers->read += static_cast<int64_t>(continuation.prompt.size());
    answers->generated += static_cast<int64_t>(continuation.ids.size());
  } else {
    const std::string why(continuation.status.message());
    json["error"] = why;
    if (answers->failed++ == 0) {
      answers->first_failure = absl::StrCat("line ", line, ": ", why);
    }
  }
  printf("%s\n", json.dump(-1, ' ', /*ensure_ascii=*/false,
                           nlohmann::json::error_handler_t::replace)
                     .c_str());
  fflush(stdout);
}

void Chat::PrintFileStatistics(const Answers& answers, double seconds) const {
  if (!absl::GetFlag(FLAGS_statistics)) return;
  fprintf(stderr,
          "lowmem_chat: %lld tokens read and %lld generated in %.2f s (%.2f "
          "generated a second); process %s at most, %s read from the file\n",
          static_cast<long long>(answers.read),
          static_cast<long long>(answers.generated), seconds,
          static_cast<double>(answers.generated) / seconds,
          FormatRoundedBytes(ReadResidentBytes().peak_bytes).c_str(),
          FormatRoundedBytes(decoder_->store().counters().bytes_read).c_str());
  const std::string ratio = lowmem_internal::ReadRatio(
      decoder_->store(), decoder_->ComputeReadBound(run_->plan()),
      run_->passes());
  if (!ratio.empty() && run_->passes() > 0) {
    fprintf(stderr, "             %s\n", ratio.c_str());
  }
}

absl::Status Chat::AnswerFile(const std::string& path) {
  const bool is_json = absl::GetFlag(FLAGS_json);
  auto measured = TextLines::Open(path, is_json);
  auto lines = TextLines::Open(path, is_json);
  if (!measured.ok()) return measured.status();
  if (!lines.ok()) return lines.status();
  const auto sizes = Measure(*std::move(measured));
  if (!sizes.ok()) return sizes.status();
  const int64_t tokens =
      absl::GetFlag(FLAGS_context)
          .value_or(CountWithAnswer(std::min(positions(), sizes->longest)));
  const auto sequences = FindSequences(*sizes, tokens);
  if (!sequences.ok()) return sequences.status();
  absl::Status status = StartTogether(sizes->longest, tokens, *sequences);
  if (!status.ok()) return status;
  Answers answers;
  int64_t answered = 0;
  const double begin = Seconds();
  const auto next = [&]() -> absl::optional<Continuation> {
    if (!lines->Next()) return absl::nullopt;
    Continuation continuation;
    absl::StatusOr<Ids> prompt = PromptOf(*lines);
    continuation.status = prompt.status();
    if (prompt.ok()) continuation.prompt = *std::move(prompt);
    continuation.most_tokens = absl::GetFlag(FLAGS_generate);
    continuation.stop_ids = stops_;
    continuation.sampling = Sampling();
    return continuation;
  };
  status = ContinueAll(*run_, next, [&](const Continuation& continuation) {
    PrintAnswer(++answered, continuation, &answers);
    return absl::OkStatus();
  });
  status.Update(lines->status());
  if (!status.ok()) return status;
  PrintFileStatistics(answers, Seconds() - begin);
  if (answers.failed == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": ", answers.failed, " of ", answered,
      " lines have an error in place of an answer; ", answers.first_failure));
}

absl::Status AnswerOnce(Chat& chat, const std::string& prompt) {
  const absl::StatusOr<Ids> ids = chat.FirstIds(prompt);
  if (!ids.ok()) return ids.status();
  if (ids->empty()) {
    return absl::InvalidArgumentError("--prompt: the text is empty");
  }
  const auto tokens = static_cast<int64_t>(ids->size());
  const absl::Status fits = chat.CheckFits(tokens);
  if (!fits.ok()) return fits;
  const absl::Status started = chat.Start(
      tokens,
      absl::GetFlag(FLAGS_context).value_or(chat.CountWithAnswer(tokens)));
  if (!started.ok()) return started;
  const absl::StatusOr<Answer> answer = chat.Say(*ids);
  if (!answer.ok()) return answer.status();
  chat.PrintStatistics(*answer);
  return absl::OkStatus();
}

// Returns false at the end of the input.
bool ReadTurn(std::string* line) {
  if (isatty(STDIN_FILENO) != 0) {
    fputs("> ", stderr);
    fflush(stderr);
  }
  return static_cast<bool>(std::getline(std::cin, *line));
}

absl::Status Converse(Chat& chat) {
  const int64_t tokens =
      absl::GetFlag(FLAGS_context)
          .value_or(std::min(chat.positions(), kConversationTokens));
  const absl::Status started = chat.Start(tokens / 4 + 1, tokens);
  if (!started.ok()) return started;
  bool is_first = true;
  for (std::string line; ReadTurn(&line);) {
    if (line.empty()) continue;
    const absl::StatusOr<Ids> ids =
        is_first ? chat.FirstIds(line) : chat.NextIds(line);
    if (!ids.ok()) return ids.status();
    if (ids->empty()) continue;
    const absl::StatusOr<Answer> answer = chat.Say(*ids);
    if (!answer.ok()) return answer.status();
    chat.PrintStatistics(*answer);
    is_first = false;
  }
  return absl::OkStatus();
}

absl::Status Run(const std::string& directory) {
  const auto chat = Chat::Open(directory);
  if (!chat.ok()) return chat.status();
  if (!absl::GetFlag(FLAGS_system).empty() && !(*chat)->answers()) {
    return absl::InvalidArgumentError(
        "--system: the model has no chat template, so it takes no system "
        "message; leave --system out");
  }
  const absl::optional<std::string> score = absl::GetFlag(FLAGS_score).text;
  if (score.has_value()) return (*chat)->Score(*score);
  const std::string file = absl::GetFlag(FLAGS_file);
  if (!file.empty()) return (*chat)->AnswerFile(file);
  const absl::optional<std::string> prompt = absl::GetFlag(FLAGS_prompt).text;
  return prompt.has_value() ? AnswerOnce(**chat, *prompt) : Converse(**chat);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_chat MODEL_DIR [--prompt=TEXT | --score=TEXT | --file=LINES] "
      "[--budget=32MiB]\n"
      "Answers a question or continues a text. MODEL_DIR is a folder with\n"
      "config.json, tokenizer.json and model.safetensors, or a GGUF file.\n"
      "Weights in several files, with model.safetensors.index.json, are read\n"
      "in place.\n"
      "Pack the weights of a folder once, so that they are read faster:\n"
      "  lowmem_pack MODEL_DIR/model.safetensors MODEL_DIR/model.safetensors");
  return footprint::lowmem_internal::RunOnFolder(
      "lowmem_chat", footprint::lowmem_internal::ParseFlags(argc, argv),
      footprint::CheckFlags, footprint::Run);
}
