// The name of a process image's record in the folder of records.
//
//   char name[kRecordFileNameCapacity];
//   WriteRecordFileName(1234, /*image=*/0, "sites", name);  // "1234.0.sites"
//
// The content must have at most 15 bytes; a name that does not fit is cut. Pure
// and thread-safe. Allocates nothing, as the agent needs.

#ifndef FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_NAME_H_
#define FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_NAME_H_

#include <cstdint>
#include <cstdio>

namespace footprint::profiling_internal {

inline constexpr int kRecordFileNameCapacity = 40;

inline void WriteRecordFileName(int32_t process_id, int32_t image,
                                const char* content,
                                char (&name)[kRecordFileNameCapacity]) {
  std::snprintf(name, sizeof(name), "%d.%d.%s", process_id, image, content);
}

}  // namespace footprint::profiling_internal

#endif  // FOOTPRINT_PROFILING_RECORDS_RECORD_FILE_NAME_H_
