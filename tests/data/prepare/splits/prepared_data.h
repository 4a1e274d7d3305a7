// Runs `data prepare` in tests and reads its results.
#ifndef TRAINYARD_TESTS_DATA_PREPARE_SPLITS_PREPARED_DATA_H_
#define TRAINYARD_TESTS_DATA_PREPARE_SPLITS_PREPARED_DATA_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/prepare/splits/prepare.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {

inline const std::atomic<bool> kNeverCancelled = false;

inline Progress QuietProgress() {
  return Progress({false, nullptr, [] { return 0.0; }});
}

// Options that put all text into the training split.
inline PrepareOptions TrainOnly(const TextDirectory& directory, const std::string& tokenizer,
                                const std::string& out = "out") {
  PrepareOptions options;
  options.inputs = {directory / "in"};
  options.out = directory / out;
  options.tokenizer = tokenizer;
  options.val_fraction = 0;
  options.jobs = 2;
  return options;
}

inline absl::StatusOr<DataSummary> PrepareQuietly(const PrepareOptions& options) {
  Progress progress = QuietProgress();
  return PrepareData(options, &progress, kNeverCancelled);
}

inline nlohmann::json JsonFile(const std::string& path) {
  return nlohmann::json::parse(ReadFile(path), nullptr, /*allow_exceptions=*/false);
}

// Returns the ids of a split, "out/train" for example.
inline std::vector<uint32_t> IdsOf(const std::string& stem) {
  const std::string bytes = ReadFile(stem + ".bin");
  const size_t width = JsonFile(stem + ".json")["dtype"] == "uint16" ? 2 : 4;
  std::vector<uint32_t> ids(bytes.size() / width);
  for (size_t i = 0; i < ids.size(); ++i) std::memcpy(&ids[i], bytes.data() + i * width, width);
  return ids;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_PREPARE_SPLITS_PREPARED_DATA_H_
