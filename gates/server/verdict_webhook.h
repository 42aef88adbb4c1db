// Tells another HTTP server of each verdict.
//
//   WebhookOptions options;
//   options.url = "http://ci.example:8080/footprint";
//   options.key = key;                      // the receiver has it, too
//   options.position_path = store_folder + "/webhook_position";
//   options.write_trial = ...;              // the JSON of a trial
//   VerdictWebhook webhook(store, options);
//   absl::Status status = webhook.Start();
//
// A delivery is a POST of {"event":"verdict","trial":TRIAL} with the header
// X-Footprint-Signature: sha256=HEX, the signature of the body by
// hmac_sha256.h. Verdicts are delivered one by one, in the order in which they
// were decided. Any answer 2xx ends a delivery.
//
// While nobody answers, or the answer is 408, 429 or 5xx, the same verdict is
// sent again, after a pause that doubles up to `most_pause`. Other answers
// refuse the verdict: it is sent five times, then given up, and the next one
// follows. Nothing waits for a delivery: verdicts are read from the store,
// where they are kept anyway.
//
// The order of the last delivery is kept in a file, so that a restart loses no
// verdict. If the process ends between an answer and that note, the verdict is
// sent twice. Without the file, or with another URL in it, deliveries begin
// with the next verdict. Redirections are not followed, and no answer's body is
// read.
//
// `store` and what `options` refers to must outlive the object, and the store
// must be open until Stop. Thread-compatible. Memory: a thread, and the body of
// a delivery.

#ifndef FOOTPRINT_GATES_SERVER_VERDICT_WEBHOOK_H_
#define FOOTPRINT_GATES_SERVER_VERDICT_WEBHOOK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "footprint/base/files/file_descriptor.h"
#include "footprint/base/threads/mutex.h"
#include "footprint/gates/store/trial_store.h"

namespace footprint {

struct WebhookOptions {
  std::string url;
  std::string key;
  std::string position_path;
  // Returns the JSON of the trial that has this key. It and `report` are called
  // on the object's own thread.
  std::function<absl::StatusOr<std::string>(const std::string& trial_key)>
      write_trial;
  // Gets a line for the operator at each failure. Empty: none.
  std::function<void(absl::string_view line)> report;
  absl::Duration first_pause = absl::Seconds(1);
  absl::Duration most_pause = absl::Minutes(10);
  // Each of these ends after that: connecting, a pause while a request is sent,
  // and waiting for the answer.
  absl::Duration time_limit = absl::Seconds(10);
};

// Returns InvalidArgument unless `url` is "http://HOST:PORT/PATH" or, with TLS,
// "https://...", and the key has at least 16 bytes; FailedPrecondition for
// https in a build without TLS.
absl::Status CheckWebhook(const std::string& url, absl::string_view key);

class VerdictWebhook {
 public:
  VerdictWebhook(const TrialStore* store, WebhookOptions options)
      : store_(store), options_(std::move(options)) {}
  ~VerdictWebhook() { Stop(); }
  VerdictWebhook(const VerdictWebhook&) = delete;
  VerdictWebhook& operator=(const VerdictWebhook&) = delete;

  // Starts to deliver. Returns CheckWebhook's errors, InvalidArgument if the
  // file of the position has something else, and else FileError's and the
  // store's.
  absl::Status Start();
  // Ends the thread, and the request that it sends or for which it connects.
  // Waits only for the name of the host, as long as the system looks for it.
  // The verdict is sent again by the next object: one that was stopped cannot
  // be started again.
  void Stop();

 private:
  enum class Answer { kTaken, kRefused, kNone };

  absl::Status ReadPosition();
  absl::Status KeepPosition() const;
  void Work();
  // Sends the verdict until it is taken or given up. Returns false if the
  // object stops before that, or if the verdict cannot be read now.
  bool Deliver(const StoredTrial& trial);
  // Sends it once. Sets `reason` to what went wrong.
  Answer Send(const std::string& body, std::string* reason);
  // Ends the connection of the request that runs. Returns false if none runs.
  bool EndRequest();
  // Returns false if the object stops meanwhile.
  bool Pause(absl::Duration duration);
  bool IsStopping() const;
  void Report(absl::string_view line) const;

  const TrialStore* const store_;
  const WebhookOptions options_;
  // The order of the last verdict that was delivered. Only the thread uses it.
  int64_t position_ = 0;
  std::thread thread_;

  mutable Mutex mutex_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_sending_ ABSL_GUARDED_BY(mutex_) = false;
  // A copy of the descriptor of the request's socket, which the HTTP client
  // closes.
  FileDescriptor connection_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace footprint

#endif  // FOOTPRINT_GATES_SERVER_VERDICT_WEBHOOK_H_
