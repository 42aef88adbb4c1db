// Samples the processor time of the process's threads: interrupts each after
// some of its own time, and adds the time used since to its present stack.
//
//   BeginProcessorTime(folder, "1234.0.processor_time", /*interval_ns=*/
//                      10'000'000);
//   const ThreadStart start = TimedThread({function, argument});
//   ... pthread_create(&thread, attributes, start.function, start.argument);
//
// Each thread has a timer of its own processor time (timer_create,
// CLOCK_THREAD_CPUTIME_ID), so a thread that waits is never interrupted, and
// threads are sampled by the time they use. Since Linux 5.11 such a timer is
// looked at when the thread returns to the program, so that it ends no system
// call (EINTR); older kernels are refused. The distances are random, between
// half and three halves of the interval, so that a program that repeats itself
// does not keep step with them. But the kernel looks at its ticks only, every 1
// to 10 ms: no thread is sampled more often, and a program that keeps step with
// the ticks is seen at the same places only.
//
// All time counts: that between two samples, and behind the last, is read from
// the thread's clock. Time of the kernel (getrusage) is told apart.
//
// The signal is number 33, which glibc keeps for itself (to change the user of
// all threads at once): no program can ask for it, block it or ignore it, so
// none can disturb the sampling or be disturbed. glibc's own use is passed on.
//
// Threads that are created past pthread_create (C11's, the C library's own) are
// not sampled. The result of TimedThread must be used once: by the thread that
// begins with it and then owns it, or by ForgetTimedThread. Memory: that of a
// StackTallyWriter in the file; places for threads that are about to begin are
// static, and a thread that finds none is not sampled. Signal-safe, without a
// lock; survives fork, after which Begin is called again. Linux on x86-64 with
// glibc; elsewhere Begin returns false.

#ifndef FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_
#define FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_

#include <cstdint>

#include "footprint/profiling/heap/thread_start.h"

namespace footprint::profiling_internal {

// Begins to sample the calling thread, and threads that TimedThread begins from
// now on. Called once in a process, and again in the child of a fork. False:
// the file cannot be had, or the kernel or machine is not one of the above.
bool BeginProcessorTime(int folder, const char* file_name, int64_t interval_ns);

// The start that a new thread should begin with instead. To be called in the
// thread that creates it; without effect before Begin.
ThreadStart TimedThread(ThreadStart start);
// The thread was not created after all.
void ForgetTimedThread(ThreadStart start);

// Adds the time that the calling thread used since its last sample: before the
// process ends.
void AddRemainingProcessorTime();

// Called after an object was unloaded.
void ForgetCodeOfProcessorTime();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test, too.

#endif  // FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_
