#include "footprint/lowmem/models/stop_ids.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "footprint/lowmem/checkpoints/checkpoint_folder.h"
#include "footprint/lowmem/checkpoints/config_reader.h"
#include "footprint/lowmem/text/gguf_tokenizer_file.h"

namespace footprint {

absl::StatusOr<std::vector<int32_t>> ReadStopIds(const std::string& path) {
  if (IsModelFile(path)) return ReadGgufStopIds(path);
  std::vector<int32_t> stops;
  for (const char* name : {"generation_config.json", "config.json"}) {
    const std::string file = absl::StrCat(path, "/", name);
    const absl::StatusOr<std::string> text = ReadConfigText(file);
    if (text.status().code() == absl::StatusCode::kNotFound) continue;
    if (!text.ok()) return text.status();
    absl::StatusOr<ConfigReader> reader = ConfigReader::Parse(*text, file);
    if (!reader.ok()) return reader.status();
    for (const double id : reader->NumberOrNumbers("eos_token_id")) {
      const bool is_id = id >= 0 && id <= std::numeric_limits<int32_t>::max() &&
                         id == static_cast<double>(static_cast<int32_t>(id));
      if (!is_id) reader->Fail("eos_token_id", "is not an id");
      if (!reader->status().ok()) return reader->status();
      const auto stop = static_cast<int32_t>(id);
      if (std::find(stops.begin(), stops.end(), stop) == stops.end()) {
        stops.push_back(stop);
      }
    }
    if (!reader->status().ok()) return reader->status();
  }
  return stops;
}

}  // namespace footprint
