#include "footprint/memo/run_catching.h"

#include <exception>
#include <new>

#include "absl/strings/str_cat.h"

namespace footprint::memo_internal {

absl::Status StatusOfException(absl::string_view thrower) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(thrower, " ran out of memory"));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat(thrower, " threw: ", error.what()));
  } catch (...) {
    return absl::InternalError(
        absl::StrCat(thrower, " threw something that is not a std::exception"));
  }
}

}  // namespace footprint::memo_internal
