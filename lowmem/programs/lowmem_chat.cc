// Answers a question, or goes on with a text, with a decoder from a
// checkpoint's folder, inside a budget of bytes.
//
//   lowmem_chat Qwen3-0.6B --prompt="Why is the sky blue?" --budget=32MiB
//   lowmem_chat Llama-3.2-1B-Instruct        # a conversation, line by line
//   lowmem_chat gpt2 --prompt="Once upon a time" --generate=50
//   lowmem_chat gpt2 --score="Once upon a time"   # how likely it is
//
// The answer goes to standard output as it is made, what it took to standard
// error. MODEL_DIR holds config.json, model.safetensors and tokenizer.json.
// Exit codes are those of command_line.h: 0; 1 the model, the text or the
// budget cannot be run (the error says why); 2 the command line is wrong.

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
#include "footprint/lowmem/models/decoder.h"
#include "footprint/lowmem/models/decoder_plan.h"
#include "footprint/lowmem/models/stop_ids.h"
#include "footprint/lowmem/models/token_scores.h"
#include "footprint/lowmem/programs/command_line.h"
#include "footprint/lowmem/programs/program_pages.h"
#include "footprint/lowmem/programs/run_budget.h"
#include "footprint/lowmem/programs/run_memory.h"
#include "footprint/lowmem/programs/text_flag.h"
#include "footprint/lowmem/text/chat_template.h"
#include "footprint/lowmem/text/text_stream.h"
#include "footprint/lowmem/text/token_sampler.h"
#include "footprint/lowmem/text/tokenizer.h"
#include "footprint/lowmem/weights/weight_store.h"
#include "nlohmann/json.hpp"

ABSL_FLAG(footprint::lowmem_internal::TextFlag, prompt, {},
          "the question, or the text to go on with; unless given, each line of "
          "standard input is a turn of one conversation");
ABSL_FLAG(
    footprint::lowmem_internal::TextFlag, score, {},
    "say how likely the model finds this text: a line of JSON for each "
    "token, with its log-likelihood after the tokens before it. Each token "
    "reads all weights once");
ABSL_FLAG(std::string, system, "",
          "what the model is told before the question");
ABSL_FLAG(bool, raw, false,
          "go on with the prompt as it stands, whatever the model was trained "
          "to answer");
ABSL_FLAG(int64_t, generate, 256, "at most so many tokens of an answer");
ABSL_FLAG(absl::optional<int64_t>, context, absl::nullopt,
          "so many tokens of all turns have room; unless given, those of the "
          "prompt and of --generate, in a conversation 1024");
ABSL_FLAG(double, temperature, 0,
          "0: the most likely token; 1: tokens as likely as the model says; "
          "between them, likely tokens more often than that");
ABSL_FLAG(int64_t, top_k, 0,
          "with a temperature: only so many of the most likely tokens; 0: all");
ABSL_FLAG(double, top_p, 1,
          "with a temperature: only the most likely tokens that have this "
          "share together");
ABSL_FLAG(uint64_t, seed, 1, "another seed, another answer");
ABSL_FLAG(std::string, budget, "",
          "bytes for keys, values, workspace and weights in flight, such as "
          "32MiB, or \"least\"; chosen unless given, as by lowmem_run");
ABSL_FLAG(std::string, backend, "auto",
          "resident, pread, direct or mmap; chosen unless given");
ABSL_FLAG(int, threads, 2, "threads that compute");
ABSL_FLAG(bool, statistics, true, "say on standard error what the answer took");

namespace footprint {
namespace {

using lowmem_internal::RunMemory;
using Ids = std::vector<int32_t>;

constexpr int64_t kConversationTokens = 1024;

absl::Status CheckFlags() {
  const auto wrong = [](absl::string_view what) {
    return absl::InvalidArgumentError(what);
  };
  if (absl::GetFlag(FLAGS_score).text.has_value() &&
      absl::GetFlag(FLAGS_prompt).text.has_value()) {
    return wrong("give one of --prompt and --score");
  }
  if (absl::GetFlag(FLAGS_generate) < 1) {
    return wrong("--generate: at least 1 token");
  }
  const absl::optional<int64_t> context = absl::GetFlag(FLAGS_context);
  if (context.has_value() && *context < 1) {
    return wrong("--context: at least 1 token");
  }
  const double temperature = absl::GetFlag(FLAGS_temperature);
  if (!(temperature >= 0 && std::isfinite(temperature))) {
    return wrong("--temperature: 0 or more");
  }
  if (absl::GetFlag(FLAGS_top_k) < 0) return wrong("--top_k: 0 or more");
  const double top_p = absl::GetFlag(FLAGS_top_p);
  if (!(top_p > 0 && top_p <= 1)) return wrong("--top_p: above 0, at most 1");
  absl::Status status =
      lowmem_internal::CheckThreads(absl::GetFlag(FLAGS_threads));
  status.Update(
      lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)).status());
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
  // Ends with a stop, not with --generate or the end of the context.
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

  // Plans for a conversation of so many tokens.
  absl::Status Start(int64_t prompt_tokens, int64_t tokens);

  absl::StatusOr<Ids> FirstIds(absl::string_view text) const;
  // Returns the ids of a later turn, after an answer.
  absl::StatusOr<Ids> NextIds(absl::string_view text) const;

  // Says how likely each token of a text is. The text is not put into the
  // model's chat template.
  absl::Status Score(absl::string_view text);

  // Reads the ids and answers; says the text as it comes.
  absl::StatusOr<Answer> Say(const Ids& ids);

  bool answers() const { return template_ != nullptr; }
  int64_t positions() const { return decoder_->config().positions; }
  void PrintStatistics(const Answer& answer) const;

 private:
  absl::StatusOr<Ids> Encode(absl::string_view text, SpecialIds special) const;
  bool IsStop(int32_t id) const {
    return std::find(stops_.begin(), stops_.end(), id) != stops_.end();
  }

  RunMemory memory_ = RunMemory::Read();
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Decoder> decoder_;
  const ChatTemplate* template_ = nullptr;  // null: it goes on with texts
  Ids stops_;
  TokenSampler sampler_ = TokenSampler(Sampling());
  std::unique_ptr<DecoderRun> run_;
  int64_t planned_tokens_ = 0;
  // The last word of the last answer, which the model has not read.
  absl::optional<int32_t> unread_;
};

absl::StatusOr<std::unique_ptr<Chat>> Chat::Open(const std::string& directory) {
  auto chat = std::make_unique<Chat>();
  auto tokenizer = Tokenizer::Open(directory);
  if (!tokenizer.ok()) return tokenizer.status();
  chat->tokenizer_ = *std::move(tokenizer);
  const auto backend = lowmem_internal::FindBackend(
      *lowmem_internal::ParseBackend(absl::GetFlag(FLAGS_backend)),
      lowmem_internal::FileBytes(FindWeightFile(directory)), chat->memory_);
  if (!backend.ok()) return backend.status();
  auto decoder = Decoder::Open(directory, *backend);
  if (!decoder.ok()) return decoder.status();
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

absl::Status Chat::Start(int64_t prompt_tokens, int64_t tokens) {
  if (tokens > positions()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tokens, " tokens, but the model has ", positions(),
                     " positions: give a smaller --context or --generate"));
  }
  const int threads = absl::GetFlag(FLAGS_threads);
  const int64_t prompt = std::min(prompt_tokens, tokens);
  const auto budget = lowmem_internal::FindBudget(
      *lowmem_internal::ParseBudget(absl::GetFlag(FLAGS_budget)), memory_,
      decoder_->MinBudgetBytes(tokens, threads), [&] {
        return decoder_->ChooseBudget(prompt, tokens - prompt + 1, threads);
      });
  if (!budget.ok()) return budget.status();
  const auto plan = decoder_->Plan(tokens, threads, budget->bytes);
  if (!plan.ok()) return plan.status();
  const absl::Status room = memory_.CheckRoom(
      absl::StrCat("a conversation of ", tokens, " tokens"), plan->peak_bytes);
  if (!room.ok()) return room;
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
                     ": give a --context of ", "more, up to ", positions()));
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
  const absl::Status started = Start(/*prompt_tokens=*/1, tokens);
  if (!started.ok()) return started;
  const absl::StatusOr<std::vector<double>> scores = ScoreTokens(*run_, *ids);
  if (!scores.ok()) return scores.status();
  double sum = 0;
  for (size_t i = 0; i < ids->size(); ++i) {
    const int32_t id = (*ids)[i];
    nlohmann::json line = {
        {"id", id},
        {"text", tokenizer_->Decode({id}, SpecialIds::kInclude)},
        // Nothing stands before the first one.
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
          answer.has_stopped ? "" : ", not at its end",
          FormatRoundedBytes(ReadResidentBytes().peak_bytes).c_str(),
          FormatRoundedBytes(counters.bytes_read).c_str());
}

absl::Status AnswerOnce(Chat& chat, const std::string& prompt) {
  const absl::StatusOr<Ids> ids = chat.FirstIds(prompt);
  if (!ids.ok()) return ids.status();
  if (ids->empty()) {
    return absl::InvalidArgumentError("--prompt: the text is empty");
  }
  const auto tokens = static_cast<int64_t>(ids->size());
  const int64_t needed =
      std::min(chat.positions(), tokens + absl::GetFlag(FLAGS_generate) - 1);
  const absl::Status started = chat.Start(
      tokens, absl::GetFlag(FLAGS_context).value_or(std::max(tokens, needed)));
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
        "--system: the model goes on with texts; it has no words for a system");
  }
  const absl::optional<std::string> score = absl::GetFlag(FLAGS_score).text;
  if (score.has_value()) return (*chat)->Score(*score);
  const absl::optional<std::string> prompt = absl::GetFlag(FLAGS_prompt).text;
  return prompt.has_value() ? AnswerOnce(**chat, *prompt) : Converse(**chat);
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "lowmem_chat MODEL [--prompt=TEXT | --score=TEXT] [--budget=32MiB]\n"
      "MODEL is a GGUF file, or a folder that holds config.json,\n"
      "model.safetensors and tokenizer.json. Pack a folder's "
      "the weights first, once:\n"
      "  lowmem_pack MODEL_DIR/model.safetensors MODEL_DIR/model.safetensors");
  return footprint::lowmem_internal::RunOnFolder(
      "lowmem_chat", footprint::lowmem_internal::ParseFlags(argc, argv),
      footprint::CheckFlags, footprint::Run);
}
