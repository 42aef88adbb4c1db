// Reports pthread_create, pthread_join and related functions to the counters,
// because threads that these order cannot overlap. Three kinds of threads do
// not come here and count as alive throughout: the C library's own, those of
// C11's thrd_create, and detached ones.

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <atomic>

#include "footprint/profiling/heap/thread_creation.h"
#include "footprint/profiling/heap/thread_start.h"

namespace footprint::profiling_internal {
namespace {

// The C library's function of this name, looked up once.
template <typename Signature>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) : name_(name) {}

  template <typename... Arguments>
  int operator()(Arguments... arguments) {
    auto call = next_.load(std::memory_order_relaxed);
    if (call == nullptr) {
      call = reinterpret_cast<Signature*>(dlsym(RTLD_NEXT, name_));
      next_.store(call, std::memory_order_relaxed);
    }
    return call(arguments...);
  }

 private:
  const char* const name_;
  std::atomic<Signature*> next_{nullptr};
};

NextFunction<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>
    next_create("pthread_create");
NextFunction<int(pthread_t, void**)> next_join("pthread_join");
NextFunction<int(pthread_t, void**)> next_tryjoin("pthread_tryjoin_np");
NextFunction<int(pthread_t, void**, const timespec*)> next_timedjoin(
    "pthread_timedjoin_np");
NextFunction<int(pthread_t, void**, clockid_t, const timespec*)> next_clockjoin(
    "pthread_clockjoin_np");
NextFunction<int(pthread_t)> next_detach("pthread_detach");

bool IsDetached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attributes != nullptr &&
         pthread_attr_getdetachstate(attributes, &state) == 0 &&
         state == PTHREAD_CREATE_DETACHED;
}

int CountedCreate(pthread_t* thread, const pthread_attr_t* attributes,
                  const ThreadStart& start) {
  ThreadRecord* const record =
      IsDetached(attributes) ? BeginDetachedThread()
                             : BeginThread(start.function, start.argument);
  if (record == nullptr) {
    return next_create(thread, attributes, start.function, start.argument);
  }
  const int error =
      next_create(thread, attributes, RunThread, static_cast<void*>(record));
  EndCreation(record, error, thread);
  return error;
}

template <typename Join>
int CountedJoin(pthread_t thread, Join join) {
  ThreadRecord* const record = BeginJoin(thread);
  const int error = join();
  EndJoin(record, /*succeeded=*/error == 0);
  return error;
}

}  // namespace
}  // namespace footprint::profiling_internal

using footprint::profiling_internal::CountedCreate;
using footprint::profiling_internal::CountedJoin;
using footprint::profiling_internal::CurrentThreadWrapper;
using footprint::profiling_internal::ForgetThread;
using footprint::profiling_internal::next_clockjoin;
using footprint::profiling_internal::next_detach;
using footprint::profiling_internal::next_join;
using footprint::profiling_internal::next_timedjoin;
using footprint::profiling_internal::next_tryjoin;
using footprint::profiling_internal::ThreadStart;
using footprint::profiling_internal::ThreadWrapper;

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                   void* (*function)(void*), void* argument) noexcept {
  const ThreadWrapper* const wrapper = CurrentThreadWrapper();
  if (wrapper == nullptr) {
    return CountedCreate(thread, attributes, {function, argument});
  }
  const ThreadStart start = wrapper->wrap({function, argument});
  const int error = CountedCreate(thread, attributes, start);
  if (error != 0) wrapper->forget(start);
  return error;
}

// It is not noexcept, because a thread may be cancelled here.
int pthread_join(pthread_t thread, void** result) {
  return CountedJoin(thread, [&] { return next_join(thread, result); });
}

int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  return CountedJoin(thread, [&] { return next_tryjoin(thread, result); });
}

int pthread_timedjoin_np(pthread_t thread, void** result,
                         const timespec* deadline) {
  return CountedJoin(thread,
                     [&] { return next_timedjoin(thread, result, deadline); });
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                         const timespec* deadline) {
  return CountedJoin(
      thread, [&] { return next_clockjoin(thread, result, clock, deadline); });
}

// The record is dropped before the call: afterwards its number may be another
// thread's.
int pthread_detach(pthread_t thread) noexcept {
  ForgetThread(thread);
  return next_detach(thread);
}

}  // extern "C"
