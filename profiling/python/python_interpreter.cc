#include "footprint/profiling/python/python_interpreter.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdint>

#include "footprint/base/threads/fork_handlers.h"
#include "footprint/base/threads/pthread_mutex.h"
#include "footprint/profiling/python/interpreter_layout.h"
#include "footprint/profiling/python/object_memory.h"
#include "footprint/profiling/python/python_allocators.h"
#include "footprint/profiling/python/python_calls.h"
#include "footprint/profiling/python/python_codes.h"
#include "footprint/profiling/records/python_record.h"
#include "footprint/profiling/sites/current_stack.h"

namespace footprint::profiling_internal {
namespace {

struct Interpreter {
  // 0 if there is no interpreter.
  uint32_t version = 0;
  bool can_read_frames = false;
  bool counts_objects = false;
  uint64_t module_begin_address = 0;
  InterpreterLayout layout = {};
  PythonTypes types;
  // `current_thread_state` returns the state of the thread that has the
  // interpreter's lock, or from 3.12 on this thread's current state.
  // `own_thread_state` returns this thread's first state, whether or not the
  // thread has the lock.
  void* (*current_thread_state)() = nullptr;
  void* (*own_thread_state)() = nullptr;
};

Interpreter interpreter;
PthreadMutex lock = PthreadMutex::Adaptive();
PythonCodeWriter codes ABSL_GUARDED_BY(lock);

void LockCodes() ABSL_EXCLUSIVE_LOCK_FUNCTION(lock) { lock.Lock(); }
void UnlockCodes() ABSL_UNLOCK_FUNCTION(lock) { lock.Unlock(); }

__attribute__((constructor(102))) void WatchForks() {
  AddForkHandlers({&lock, LockCodes, UnlockCodes, UnlockCodes});
}

// InterleavePythonCalls calls this function while the lock is held.
uint32_t NumberCodeLocked(uintptr_t code) {
  lock.AssertHeld();
  return codes.FindNumber(code);
}

// Locks the codes. It may fail in a signal handler, whose interrupted thread
// may hold the lock.
bool LockCodesFor(bool in_signal_handler)
    ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true, lock) {
  if (in_signal_handler) return lock.TryLock();
  lock.Lock();
  return true;
}

// Returns the thread's current state, or 0. With subinterpreters a thread may
// have several; before 3.12 the current one may be another thread's.
uintptr_t FindThreadState() {
  const auto current =
      reinterpret_cast<uintptr_t>(interpreter.current_thread_state());
  if (MayBeObject(current) &&
      LoadAs<uint64_t>(current + interpreter.layout.thread_id) ==
          pthread_self()) {
    return current;
  }
  const auto own = reinterpret_cast<uintptr_t>(interpreter.own_thread_state());
  return MayBeObject(own) ? own : 0;
}

int Interleave(bool in_signal_handler, const uintptr_t* stack_pointers,
               int count, uintptr_t* calls, int capacity) {
  const uintptr_t thread_state = FindThreadState();
  if (thread_state == 0) return count;
  if (!LockCodesFor(in_signal_handler)) return count;
  const int merged_count = InterleavePythonCalls(
      interpreter.layout, thread_state, in_signal_handler, stack_pointers,
      count, NumberCodeLocked, calls, capacity);
  UnlockCodes();
  return merged_count;
}

uintptr_t FindAddress(const char* name) {
  return reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

template <typename Function>
void FindFunction(const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Returns the version in the form of Py_Version (since 3.11), or 0 without an
// interpreter.
uint32_t FindVersion() {
  const uintptr_t version = FindAddress("Py_Version");
  if (version != 0) {
    return static_cast<uint32_t>(LoadAs<unsigned long>(version));
  }
  const char* (*get_version)() = nullptr;
  FindFunction("Py_GetVersion", &get_version);
  if (get_version == nullptr) return 0;
  // "3.9.2 (default, ..."
  char* end = nullptr;
  const unsigned long major = strtoul(get_version(), &end, 10);
  const unsigned long minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
  const unsigned long micro = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
  return static_cast<uint32_t>(major << 24 | minor << 16 | micro << 8);
}

uint64_t BeginOfObject(uintptr_t address) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) != 0
             ? 0
             : reinterpret_cast<uint64_t>(found.dlfo_map_start);
}

bool FindFrames(const void* runtime) {
  interpreter.types.code = FindAddress("PyCode_Type");
  interpreter.types.str = FindAddress("PyUnicode_Type");
  interpreter.types.bytes = FindAddress("PyBytes_Type");
  FindFunction("_PyThreadState_UncheckedGet",
               &interpreter.current_thread_state);
  if (interpreter.current_thread_state == nullptr) {
    FindFunction("PyThreadState_GetUnchecked",
                 &interpreter.current_thread_state);
  }
  FindFunction("PyGILState_GetThisThreadState", &interpreter.own_thread_state);
  return interpreter.types.code != 0 && interpreter.types.str != 0 &&
         interpreter.types.bytes != 0 &&
         interpreter.current_thread_state != nullptr &&
         interpreter.own_thread_state != nullptr &&
         FindInterpreterLayout(interpreter.version, runtime,
                               &interpreter.layout);
}

}  // namespace

void FindPythonInterpreter() {
  interpreter.version = FindVersion();
  if (interpreter.version == 0) return;
  interpreter.module_begin_address =
      BeginOfObject(FindAddress("Py_GetVersion"));
  const auto* const runtime =
      reinterpret_cast<const void*>(FindAddress("_PyRuntime"));
  interpreter.can_read_frames = FindFrames(runtime);
  CountPythonObjects(interpreter.version, runtime, [] {
    LockCodes();
    interpreter.counts_objects = true;
    codes.NoteThatObjectsCount();
    UnlockCodes();
  });
}

bool HasPythonInterpreter() { return interpreter.version != 0; }

bool BeginPythonRecord(int folder, const char* file_name, bool with_calls) {
  LockCodes();
  codes.SetLayout(interpreter.layout, interpreter.types);
  const bool has_begun =
      codes.Begin(folder, file_name,
                  {interpreter.version,
                   interpreter.can_read_frames ? PythonFrames::kRead
                                               : PythonFrames::kUntested,
                   interpreter.counts_objects ? PythonObjects::kCounted
                                              : PythonObjects::kAsChosen,
                   interpreter.module_begin_address});
  UnlockCodes();
  SetInterpreterCalls(has_begun && with_calls && interpreter.can_read_frames
                          ? Interleave
                          : nullptr);
  return has_begun;
}

}  // namespace footprint::profiling_internal
