// Samples the processor time of the process's threads. It interrupts each
// thread after some of its own time, and adds the time used since the last
// sample to its current stack.
//
//   BeginProcessorTime(folder, "1234.0.processor_time", /*interval_ns=*/
//                      10'000'000);
//   const ThreadStart start = TimedThread({function, argument});
//   ... pthread_create(&thread, attributes, start.function, start.argument);
//
// Each thread has a timer of its own processor time (timer_create,
// CLOCK_THREAD_CPUTIME_ID). So a thread that waits is never interrupted, and
// threads are sampled by the time they use. Since Linux 5.11 the kernel handles
// such a timer when the thread returns to the program, so it interrupts no
// system call (EINTR); older kernels are refused. The intervals are random,
// between half and three halves of the given one, so that sampling does not
// keep step with a program that repeats itself. But the kernel tests timers
// only at its ticks, every 1 to 10 ms. So no thread is sampled more often, and
// a program that keeps step with the ticks is sampled at the same places only.
//
// All time counts: the time between samples, and after the last one, is read
// from the thread's clock. Time in the kernel (getrusage) is counted
// separately.
//
// The signal has number 33, which glibc reserves for itself (to change the user
// of all threads at once). No program can use, block or ignore it, so programs
// and sampling do not disturb each other. glibc's own uses are passed on to
// glibc.
//
// Threads that are not created by pthread_create (C11's, the C library's own)
// are not sampled. The result of TimedThread must be used once: by the thread
// that begins with it and then owns it, or by ForgetTimedThread. Memory: a
// StackTallyWriter's in the file. The entries for threads that are about to
// begin are static; there are 1,024, and a thread that finds none is not
// sampled. Signal-safe, without a lock. It survives a fork, after which Begin
// must be called again. Linux on x86-64 with glibc; elsewhere Begin returns
// false.

#ifndef FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_
#define FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_

#include <cstdint>

#include "footprint/profiling/heap/thread_start.h"

namespace footprint::profiling_internal {

// Starts to sample the calling thread, and threads that TimedThread begins from
// now on. Call it once in a process, and again in the child of a fork. Returns
// false if the file cannot be created, if the system has no timer or thread key
// left, or if the kernel or machine is not supported.
bool BeginProcessorTime(int folder, const char* file_name, int64_t interval_ns);

// Returns the start that a new thread should begin with instead. Call it in the
// thread that creates it. Before Begin it returns `start`.
ThreadStart TimedThread(ThreadStart start);
// Releases the start of a thread that was not created.
void ForgetTimedThread(ThreadStart start);

// Adds the time that the calling thread used since its last sample, and stops
// sampling the thread. Call it before the process ends.
void AddRemainingProcessorTime();

// Forgets which code lies at which address. Call it after an object was
// unloaded.
void ForgetCodeOfProcessorTime();

}  // namespace footprint::profiling_internal

// Tested by //profiling/memprof:sampling_test, too.

#endif  // FOOTPRINT_PROFILING_SAMPLES_PROCESSOR_TIME_H_
