// Runs the validation server, which takes bundles over HTTP, tries them in a
// sandbox, and accepts those that fit.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "footprint/base/files/sha256.h"
#include "footprint/base/files/whole_file.h"
#include "footprint/base/machine/cpu_group.h"
#include "footprint/gates/commands/command_flags.h"
#include "footprint/gates/commands/gate_targets.h"
#include "footprint/gates/commands/number_flags.h"
#include "footprint/gates/engine/engine_flags.h"
#include "footprint/gates/engine/engine_trials.h"
#include "footprint/gates/engine/try_order.h"
#include "footprint/gates/judge/gate.pb.h"
#include "footprint/gates/judge/threshold_file.h"
#include "footprint/gates/programs/device_budgets.h"
#include "footprint/gates/programs/program_output.h"
#include "footprint/gates/programs/server_folders.h"
#include "footprint/gates/programs/token_commands.h"
#include "footprint/gates/sandbox/host.h"
#include "footprint/gates/server/access_tokens.h"
#include "footprint/gates/server/hmac_sha256.h"
#include "footprint/gates/server/oidc_issuers.h"
#include "footprint/gates/server/validation_page.h"
#include "footprint/gates/server/validation_server.h"
#include "footprint/gates/server/verdict_webhook.h"
#include "footprint/gates/store/bundle_folder.h"
#include "footprint/gates/store/submitter_limits.h"
#include "footprint/gates/store/trial_store.h"
#include "footprint/gates/trials/bundle_label.h"
#include "footprint/gates/trials/memory_admission.h"
#include "footprint/gates/trials/run_trial.h"
#include "footprint/gates/trials/trial.pb.h"
#include "footprint/gates/trials/trial_verdict.h"

namespace footprint {
namespace {

constexpr char kProgram[] = "serve";
constexpr char kHelp[] =
    R"(Runs the validation server. It runs each submitted bundle in a sandbox, and
accepts the bundle if it fits its budget.

  bazel run //gates:serve                        at 127.0.0.1:7878
  bazel run //gates:serve -- --thresholds=models.textproto --budget=512MiB
  bazel run //gates:serve -- token add ci --scopes=submit,read --expires=90d
  bazel run //gates:serve -- token set ci --owns=//team_a/... --most_waiting=20
  bazel run //gates:serve -- token list
  bazel run //gates:serve -- token remove ci

The first start makes a token that `submit` uses on this machine. You can add,
change and remove other tokens while the server runs. The server keeps only their
hashes.

Flags
  --store=FOLDER           the folder of the database, bundles, tokens,
                           backups and audit log, or a backup of one, which
                           has them, too (default: ~/.local/share/footprint)
  --host=ADDRESS           the address to listen at (default: 127.0.0.1, which
                           only this machine reaches)
  --port=NUMBER            the port to listen at (default: 7878)
  --certificate=FILE --key=FILE
                           PEM files; with them the server speaks TLS
  --thresholds=FILE        a threshold file that judges every bundle, in addition
                           to its budget; may be repeated
  --budget=BYTES           the budget of every bundle, in place of its own
  --time_limit=SECONDS     the longest that each run may take (default: 60)
  --fleet=FILE             a file of devices, as `fit` reads it. If a manifest
                           names one, the budget is its RAM less its reserve
  --mode=enforce|warn|audit
                           what a rejection means to the submitter
                           (default: enforce)
  --trials_at_once=NUMBER  the most trials that run at once (default: the number
                           of processors, plus one)
  --most_waiting=NUMBER    the most trials that wait; further submitters are
                           told to come back later (default: 1000). For tokens,
                           see below
  --most_bundle=BYTES      the size of the largest bundle (default: 1GiB)
  --keep_bundles=BYTES     the room for decided bundles; the oldest are removed
                           first (default: 16GiB)
  --keep_verdicts=NUMBER   the number of verdicts to keep (default: 1000000)
  --webhook=URL            tells this address, http://HOST:PORT/PATH, of each
                           verdict by a POST
  --webhook_key=FILE       for --webhook: the file of the key, at least 16 bytes,
                           that signs each POST by HMAC-SHA256
  --oidc=FILE              also takes the tokens that GitHub, GitLab and other
                           issuers of OpenID Connect give to jobs of CI; the
                           file (gates/server/oidc.proto) says whose, with which
                           keys, and what they may do
  --engine=COMMAND         has this command run each trial, on any machine, and
                           runs none here; `{bundle}`, `{order}` and `{result}`
                           are files for its `try`. It is split into words, and
                           no shell reads it. Other words: {limit}, the memory
                           that the trial needs in MiB, {seconds}, its longest
                           time, and {trial}, a name for a job
  --engine_key=FILE        for --engine: the key that signs results, at least 16
                           bytes, as in `try --key`
  --engine_folder=FOLDER   a folder that the engine's hosts see under the same
                           path, for bundles and results (default: the store)
  --engine_host=FILE       what `try --host` prints on a host of the engine, if
                           these are of another kind than this machine
  --engine_wait=SECONDS    how much longer than {seconds} a command may take, as
                           in a queue of the engine (default: 600)
  --engine_attempts=NUMBER how often a trial is given to the engine if that fails
                           (default: 3)
  --unexplained            skip the run under the profiler: faster, no profile
  --lowmem=FILE            the program that runs checkpoints
  --despite_missing        start although this host lacks a mechanism of the
                           sandbox; trials that need it are INCONCLUSIVE
  --help                   print this text

Flags of `token add` and `token set`, which changes what is given and nothing else
  --scopes=LIST            submit, read, admin (`token add`: submit,read)
  --expires=TIME           90d or 12h from now, or never (`token add`: never)
  --most_waiting=NUMBER    the most trials of this token that have no verdict yet
  --most_budget=BYTES      the largest budget that its bundles may ask for
  --most_time=SECONDS      the longest that each run may take. These three are
                           without limit by default; `none` removes a limit
  --cpu_weight=NUMBER      the share of the processors that each of its running
                           trials gets while others want them, from 1 to 10000
                           (default: 100). Needs a cpu controller of control
                           groups, and has no effect with --engine
  --owns=PATTERN           labels that belong to this token: submissions of other
                           tokens for them are refused. //team_a/... stands for a
                           package and all below it, and * for any text. May be
                           repeated; `none` gives all labels back

Exit status: 0 after SIGTERM or Ctrl-C; 2 if the server cannot start, for a
reason that the message names.
)";

constexpr int kUsualPort = 7878;
constexpr int64_t kUsualSeconds = 60;
constexpr char kLocalTokenName[] = "local";

// Prints a line for the operator. Thread-safe.
void PrintLine(absl::string_view line) {
  std::fprintf(stderr, "%s: %s\n", kProgram, std::string(line).c_str());
}

// Settings that all trials share.
struct Trials {
  TrialRequest request;
  std::string work_folder;
  std::shared_ptr<OidcIssuers> oidc;  // null: none
  std::shared_ptr<AccessTokens> tokens;
};

// Reads the threshold files once at the start, so that a mistake is reported at
// once.
absl::Status CheckThresholds(const TrialRequest& request, Sha256* context) {
  for (const std::string& path : request.threshold_paths()) {
    const absl::StatusOr<std::string> text = ReadWholeFile(path);
    if (!text.ok()) return text.status();
    const ThresholdSource source = ParseThresholdFile(path, *text);
    if (!source.problems.empty()) {
      const Problem& problem = source.problems[0];
      return absl::InvalidArgumentError(
          absl::StrCat(problem.location(), ": ", problem.message()));
    }
    context->Add(absl::StrCat(text->size(), "\n", *text));
  }
  return absl::OkStatus();
}

absl::StatusOr<Trials> MakeTrials(const CommandFlags& flags,
                                  const std::string& store_folder) {
  Trials trials;
  int64_t budget_bytes = 0;
  absl::Status status = SetBytesFlag(flags, "budget", &budget_bytes);
  if (!status.ok()) return status;
  int64_t seconds = kUsualSeconds;
  status = SetNumberFlag(flags, "time_limit", kMostSecondsLimit, &seconds);
  if (!status.ok()) return status;
  trials.request.set_budget_bytes(budget_bytes);
  trials.request.set_time_limit_seconds(static_cast<int32_t>(seconds));
  trials.request.set_is_unexplained(flags.Has("unexplained"));
  for (const std::string& path : flags.Values("thresholds")) {
    trials.request.add_threshold_paths(PathOfCaller(path));
  }
  for (const std::string& path : flags.Values("fleet")) {
    status = AddDeviceBudgets(PathOfCaller(path), &trials.request);
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::string> lowmem =
      ProgramPath("--lowmem", flags.Value("lowmem", ""));
  if (!lowmem.ok()) return lowmem.status();
  trials.request.set_lowmem_program(*lowmem);
  trials.work_folder = store_folder + "/work";
  if (flags.Has("oidc")) {
    absl::StatusOr<std::unique_ptr<OidcIssuers>> oidc =
        OidcIssuers::Read(PathOfCaller(flags.Value("oidc", "")), PrintLine);
    if (!oidc.ok()) return oidc.status();
    trials.oidc = *std::move(oidc);
  }
  trials.tokens = std::make_shared<AccessTokens>(MakeTokenPath(store_folder),
                                                 trials.oidc.get());
  return trials;
}

// Reads what a verdict depends on besides the bundle. `environment` is that of
// the hosts that run trials.
absl::StatusOr<std::string> ReadContext(const Trials& trials,
                                        const std::string& environment) {
  Sha256 context;
  context.Add(absl::StrCat("judge ", kJudgeVersion, "\n", environment, "\n",
                           trials.request.SerializeAsString()));
  const absl::Status status = CheckThresholds(trials.request, &context);
  if (!status.ok()) return status;
  return context.FinishHex();
}

// Returns the prefix of the names of this process's work folders. Its number
// alone may be that of a killed server, as each first process of a container is
// number 1.
std::string OwnWorkPrefix() {
  static const auto* const prefix = [] {
    std::random_device random;
    return new std::string(
        absl::StrFormat("%d-%08x%08x-", getpid(), random(), random()));
  }();
  return *prefix;
}

// Removes the work folders of a killed server. The store is locked, so no other
// server is running.
void RemoveOldWork(const std::string& work_folder) {
  std::error_code error;
  std::vector<std::filesystem::path> old;
  for (const auto& each :
       std::filesystem::directory_iterator(work_folder, error)) {
    if (!absl::StartsWith(each.path().filename().string(), OwnWorkPrefix())) {
      old.push_back(each.path());
    }
  }
  for (const auto& path : old) std::filesystem::remove_all(path, error);
}

// Returns the present weight of the trial's token, which may have been changed
// since the submission. If the tokens cannot be read now, returns 0: the trial
// runs without a weight.
int32_t FindCpuWeight(const Trials& trials, const std::string& submitter) {
  const int64_t weight = trials.tokens->FindCpuWeight(submitter).value_or(0);
  return static_cast<int32_t>(std::min<int64_t>(weight, kMostCpuWeight));
}

// Says so if a token has a weight that has no effect here.
void CheckWeights(const Trials& trials) {
  if (trials.tokens->FindCpuWeight("").value_or(0) == 0) return;
  const absl::Status status = CheckCpuWeights();
  if (status.ok()) return;
  PrintLine(absl::StrCat("the cpu_weight of tokens has no effect here: ",
                         status.message()));
}

TrialRequest MakeRequest(const Trials& trials, const TrialToRun& to_run) {
  TrialRequest request = trials.request;
  request.set_bundle_path(to_run.bundle_path);
  request.set_most_budget_bytes(to_run.limits.most_budget_bytes);
  // The file of tokens may have been edited.
  request.set_most_time_limit_seconds(static_cast<int32_t>(
      std::min(to_run.limits.most_seconds, kMostSecondsLimit)));
  return request;
}

// Returns the function that has the engine run a trial.
absl::StatusOr<RunTrialFunction> RunByEngineOf(EngineOptions engine,
                                               const Trials& trials) {
  // Hosts of the engine may lack the threshold files.
  Trials all = trials;
  for (const std::string& path : trials.request.threshold_paths()) {
    const absl::StatusOr<std::string> text = ReadWholeFile(path);
    if (!text.ok()) return text.status();
    all.request.add_threshold_texts(*text);
  }
  engine.make_request = [all](const TrialToRun& to_run) {
    return MakeRequest(all, to_run);
  };
  engine.report = PrintLine;
  engine.prefix = absl::StrCat(OwnWorkPrefix(), "engine");
  return RunByEngine(std::move(engine));
}

// Returns the function that runs a trial. `admission` must outlive it.
RunTrialFunction RunIn(const Trials& trials, MemoryAdmission* admission) {
  // Each trial has its own folder, even if the bundle is the same.
  return [trials, admission, count = std::make_shared<std::atomic<int64_t>>(0)](
             const TrialToRun& to_run) -> absl::StatusOr<StoredResult> {
    TrialRequest request = MakeRequest(trials, to_run);
    request.set_cpu_weight(FindCpuWeight(trials, to_run.submitter));
    request.set_work_folder(
        absl::StrCat(trials.work_folder, "/", OwnWorkPrefix(), (*count)++));
    const absl::Status made = MakeFolder(request.work_folder());
    if (!made.ok()) return made;
    to_run.report_stage("measuring and proving");
    TrialSurroundings surroundings;
    surroundings.admission = admission;
    surroundings.is_stopped = to_run.is_stopped;
    surroundings.on_decided = [&](const TrialResult& decided) {
      to_run.report_stage(absl::StrCat(
          "decided: ", std::string(Decision_Name(decided.verdict().decision())),
          ", ", decided.reason(), "; explaining"));
    };
    const absl::StatusOr<TrialResult> result = RunTrial(request, surroundings);
    std::error_code ignored;
    std::filesystem::remove_all(request.work_folder(), ignored);
    if (!result.ok()) return result.status();
    return MakeStoredResult(*result);
  };
}

absl::Status SetServer(const CommandFlags& flags,
                       ValidationServerOptions* options) {
  const absl::StatusOr<ServerMode> mode =
      ParseServerMode(flags.Value("mode", "enforce"));
  if (!mode.ok()) return mode.status();
  options->api.mode = *mode;
  int64_t port = kUsualPort;
  // One thread more than processors: while one waits for the disk or a process,
  // another runs.
  int64_t thread_count = int64_t{std::thread::hardware_concurrency()} + 1;
  absl::Status status = SetNumberFlag(flags, "port", 65535, &port);
  status.Update(SetNumberFlag(flags, "trials_at_once", 1024, &thread_count));
  status.Update(SetNumberFlag(flags, "most_waiting", kMostUndecidedLimit,
                              &options->store.most_waiting));
  status.Update(SetNumberFlag(flags, "keep_verdicts", INT64_MAX,
                              &options->store.most_trials));
  status.Update(
      SetBytesFlag(flags, "keep_bundles", &options->store.most_bundle_bytes));
  status.Update(
      SetBytesFlag(flags, "most_bundle", &options->api.most_bundle_bytes));
  if (!status.ok()) return status;
  options->queue.thread_count =
      static_cast<int>(std::max<int64_t>(1, thread_count));
  options->http.port = static_cast<int>(port);
  options->http.host = flags.Value("host", options->http.host);
  if (flags.Has("certificate") != flags.Has("key")) {
    return absl::InvalidArgumentError(
        "--certificate and --key go together: give two PEM files of one pair");
  }
  options->http.certificate_path = PathOfCaller(flags.Value("certificate", ""));
  options->http.key_path = PathOfCaller(flags.Value("key", ""));
  options->http.most_bundle_bytes = options->api.most_bundle_bytes;
  options->http.page = ValidationPage();
  options->http.page_policy = ValidationPagePolicy();
  return absl::OkStatus();
}

absl::Status SetWebhook(const CommandFlags& flags,
                        ValidationServerOptions* options) {
  options->webhook_url = flags.Value("webhook", "");
  options->report = PrintLine;
  if (flags.Has("webhook") != flags.Has("webhook_key")) {
    return absl::InvalidArgumentError(
        "--webhook and --webhook_key go together: name the address that is "
        "told of verdicts, and the file of the key that signs them");
  }
  if (!flags.Has("webhook")) return absl::OkStatus();
  const absl::StatusOr<std::string> key =
      ReadSigningKey(PathOfCaller(flags.Value("webhook_key", "")));
  if (!key.ok()) return key.status();
  options->webhook_key = *key;
  return CheckWebhook(options->webhook_url, options->webhook_key);
}

bool HasLocalToken(const std::vector<KeptToken>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const KeptToken& token) {
    return token.grant.name == kLocalTokenName;
  });
}

// Makes a token for this machine's `submit`, if there is no token yet, or if
// the first server of the store finds only tokens of others.
absl::Status MakeLocalToken(const std::string& store_folder) {
  const std::string tokens_path = MakeTokenPath(store_folder);
  const absl::StatusOr<std::vector<KeptToken>> tokens =
      ReadTokenFile(tokens_path);
  if (!tokens.ok()) return tokens.status();
  const bool is_wanted =
      tokens->empty() ||
      (!TrialStore::Exists(store_folder) && !HasLocalToken(*tokens));
  if (!is_wanted) return absl::OkStatus();
  const AccessGrant grant = {kLocalTokenName,
                             kSubmitScope | kReadScope | kAdminScope};
  const absl::Status recorded =
      RecordTokenChange(store_folder, "token add", grant);
  if (!recorded.ok()) return recorded;
  const absl::StatusOr<std::string> token = AddAccessToken(tokens_path, grant);
  if (!token.ok()) return token.status();
  // An existing file may be the token for another store's server.
  const absl::StatusOr<std::string> client_path = ClientTokenPath();
  const bool is_taken =
      client_path.ok() && access(client_path->c_str(), F_OK) == 0;
  const bool is_found = client_path.ok() && !is_taken;
  const std::string path =
      is_found ? *client_path : store_folder + "/local_token";
  const absl::Status written = WriteSecretFile(path, *token + "\n");
  if (!written.ok()) return written;
  const std::string how =
      is_found   ? "finds it"
      : is_taken ? absl::StrCat("wants --token_file, since ", *client_path,
                                " is another store's")
                 : "wants --token_file, since there is no HOME";
  std::fprintf(stderr,
               "%s: made the token '%s', of every scope, in %s: `submit` on "
               "this machine %s, and the page wants the token, too\n",
               kProgram, kLocalTokenName, path.c_str(), how.c_str());
  return absl::OkStatus();
}

absl::Status CheckHost(const CommandFlags& flags, const HostDescription& host) {
  if (host.missing.empty()) return absl::OkStatus();
  const std::string missing = absl::StrJoin(host.missing, "\n  ");
  if (!flags.Has("despite_missing")) {
    return absl::FailedPreconditionError(
        absl::StrCat("this host lacks mechanisms of the sandbox:\n  ", missing,
                     "\nprovide them, or start with --despite_missing: trials "
                     "that need them are then INCONCLUSIVE"));
  }
  std::fprintf(stderr,
               "%s: trials may be INCONCLUSIVE; this host lacks\n  %s\n",
               kProgram, missing.c_str());
  return absl::OkStatus();
}

// Returns what a verdict depends on of the hosts that run trials.
std::string EnvironmentText(const CommandFlags& flags,
                            const HostDescription& host,
                            const absl::optional<EngineOptions>& engine) {
  return flags.Has("engine_host") && engine.has_value()
             ? engine->environment
             : absl::StrCat(host.kernel, "\n",
                            absl::StrJoin(host.present, "\n"));
}

GivenFlags GivenEngineFlags(const CommandFlags& flags) {
  GivenFlags given;
  std::vector<std::string> names = EngineFlags();
  names.emplace_back("lowmem");
  for (const std::string& name : names) {
    if (flags.Has(name)) given[name] = flags.Value(name, "");
  }
  return given;
}

absl::Status Serve(const CommandFlags& flags, const std::string& store_folder) {
  const HostDescription host = DescribeHost();
  const absl::StatusOr<absl::optional<EngineOptions>> engine = ReadEngineFlags(
      GivenEngineFlags(flags), PathOfCaller("."), store_folder, host);
  if (!engine.ok()) return engine.status();
  const bool is_by_engine = engine->has_value();
  absl::Status status =
      is_by_engine ? absl::OkStatus() : CheckHost(flags, host);
  if (!status.ok()) return status;
  ValidationServerOptions options;
  options.store_folder = store_folder;
  status = SetServer(flags, &options);
  if (status.ok()) status = SetWebhook(flags, &options);
  if (!status.ok()) return status;
  absl::StatusOr<Trials> trials = MakeTrials(flags, store_folder);
  if (!trials.ok()) return trials.status();
  trials->request.set_most_archive_bytes(options.api.most_bundle_bytes);
  const absl::StatusOr<std::string> context =
      ReadContext(*trials, EnvironmentText(flags, host, *engine));
  if (!context.ok()) return context.status();
  if (is_by_engine) trials->work_folder = (*engine)->folder;
  options.oidc = trials->oidc.get();
  options.api.verdict_context = *context;
  options.api.read_label = [most_bytes = options.api.most_bundle_bytes](
                               const std::string& path,
                               const std::function<bool()>& is_stopped) {
    return ReadBundleLabel(path, most_bytes, is_stopped);
  };
  status = MakeLocalToken(store_folder);
  if (status.ok()) status = MakeFolder(trials->work_folder);
  if (!status.ok()) return status;
  if (!is_by_engine) CheckWeights(*trials);
  const absl::StatusOr<int64_t> bytes_for_runs = ReadBytesForRuns();
  if (!bytes_for_runs.ok()) return bytes_for_runs.status();
  MemoryAdmission admission(*bytes_for_runs);
  const absl::StatusOr<RunTrialFunction> run =
      is_by_engine
          ? RunByEngineOf(**engine, *trials)
          : absl::StatusOr<RunTrialFunction>(RunIn(*trials, &admission));
  if (!run.ok()) return run.status();
  return ServeUntilSignalled(options, *run, [&](int port) {
    RemoveOldWork(trials->work_folder);
    std::fprintf(stderr, "%s: %s://%s:%d, store %s; Ctrl-C ends it\n", kProgram,
                 options.http.key_path.empty() ? "http" : "https",
                 options.http.host.c_str(), port, store_folder.c_str());
  });
}

const std::vector<std::string>& ValuedFlags() {
  static const auto* const flags = [] {
    auto* const all = new std::vector<std::string>(
        {"store", "host", "port", "certificate", "key", "thresholds", "budget",
         "fleet", "time_limit", "mode", "trials_at_once", "most_waiting",
         "most_bundle", "keep_bundles", "keep_verdicts", "lowmem", "webhook",
         "webhook_key", "oidc"});
    all->insert(all->end(), TokenFlags().begin(), TokenFlags().end());
    all->insert(all->end(), EngineFlags().begin(), EngineFlags().end());
    return all;
  }();
  return *flags;
}

const std::vector<std::string>& PlainFlags() {
  static const auto* const flags =
      new std::vector<std::string>({"unexplained", "despite_missing", "help"});
  return *flags;
}

// Refuses flags that the command would ignore: a limit that is not applied is
// worse than none.
absl::Status CheckFlags(const CommandFlags& flags) {
  const std::vector<std::string>& words = flags.words();
  const bool is_token = !words.empty() && words[0] == "token";
  const bool has_rights =
      is_token && words.size() > 1 && (words[1] == "add" || words[1] == "set");
  std::set<std::string> of_tokens(TokenFlags().begin(), TokenFlags().end());
  const std::set<std::string> of_both = {"store", "most_waiting"};
  for (const auto* names : {&ValuedFlags(), &PlainFlags()}) {
    for (const std::string& name : *names) {
      const bool is_of_both = of_both.count(name) > 0;
      const bool is_of_tokens = is_of_both || of_tokens.count(name) > 0;
      const bool is_of_server = is_of_both || !is_of_tokens;
      const bool is_used = name == "store" || (has_rights && is_of_tokens) ||
                           (!is_token && is_of_server);
      if (!flags.Has(name) || is_used) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name, " is a flag of ",
          is_of_both     ? "the server, of `token add` and of `token set`"
          : is_of_tokens ? "`token add` and `token set`"
                         : "the server",
          ", and has no effect here; see --help"));
    }
  }
  return absl::OkStatus();
}

// Returns the absolute path of the store, since the sandbox has another folder
// than the caller.
absl::StatusOr<std::string> FindStore(const CommandFlags& flags) {
  if (!flags.Has("store")) return StoreFolder();
  const std::string path = flags.Value("store", "");
  std::error_code error;
  const std::filesystem::path absolute =
      std::filesystem::absolute(PathOfCaller(path), error);
  if (!path.empty() && !error) return absolute.string();
  return absl::InvalidArgumentError(
      absl::StrCat("--store=", path, " names no folder"));
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandFlags> flags = CommandFlags::Parse(
      arguments, ValuedFlags(), PlainFlags(), /*most_words=*/3);
  if (!flags.ok()) return Complain(kProgram, flags.status().message());
  if (flags->Has("help"))
    return FinishProgram(kProgram, NameGateTargets(kHelp), "", ACCEPT);
  absl::Status status = CheckFlags(*flags);
  if (!status.ok()) return Complain(kProgram, status.message());
  const absl::StatusOr<std::string> store = FindStore(*flags);
  if (!store.ok()) return Complain(kProgram, store.status().message());
  const std::string& store_folder = *store;
  status = MakeFolders(store_folder);
  if (status.ok()) {
    if (flags->words().empty()) {
      status = Serve(*flags, store_folder);
    } else if (flags->words()[0] == "token") {
      status = ManageTokens(*flags, store_folder);
    } else {
      status = absl::InvalidArgumentError(
          absl::StrCat("no command '", flags->words()[0], "'; see --help"));
    }
  }
  return status.ok() ? 0 : Complain(kProgram, status.message());
}

}  // namespace
}  // namespace footprint

int main(int argc, char** argv) {
  return footprint::Main(std::vector<std::string>(argv + 1, argv + argc));
}
