// Writes any readable trace as text, as JSON, in words and as a page.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "footprint/base/testing/fuzz_target.h"
#include "footprint/base/testing/memory_file.h"
#include "footprint/base/testing/sealed_bytes.h"
#include "footprint/memo/schedule/memo_trace_file.h"
#include "footprint/memo/trace/plan_in_words.h"
#include "footprint/memo/trace/trace_page.h"
#include "footprint/memo/trace/trace_text.h"

namespace footprint {
namespace {

void WriteAnyTrace(absl::string_view bytes) {
  const MemoryFile file(SealedBytes(bytes, 15));
  const absl::StatusOr<MemoTrace> trace = ReadMemoTraceFile(file.path());
  if (!trace.ok()) return RequireRefusal(trace.status());
  (void)PlanText(trace->plan());
  (void)TraceText(*trace);
  (void)PlanInWords(trace->plan());
  Require(PlanJson(trace->plan()).front() == '{', "JSON begins with a brace");
  Require(TraceJson(*trace).front() == '{', "JSON begins with a brace");
  Require(TracePage(*trace).find("</html>") != std::string::npos,
          "a page is whole");
}

}  // namespace

FOOTPRINT_FUZZ_TARGET(WriteAnyTrace)

}  // namespace footprint
