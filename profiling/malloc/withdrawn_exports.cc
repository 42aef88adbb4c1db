// An object with two names, which withdraws one on request.

#include "footprint/profiling/malloc/own_exports.h"

using footprint::profiling_internal::IsOfThisObject;
using footprint::profiling_internal::WithdrawExport;

extern "C" {

int shown_name() { return 1; }
int withdrawn_name() { return 2; }

bool withdraw(const char* name) { return WithdrawExport(name); }
bool is_of_this_object(const void* function) {
  return IsOfThisObject(function);
}

}  // extern "C"
