// The text of a document in the output of a run.
#ifndef TRAINYARD_DATA_REPORT_RUN_TEXT_H_
#define TRAINYARD_DATA_REPORT_RUN_TEXT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "data/report/run_document.h"
#include "data/stages/read_run.h"

namespace trainyard::data {

struct RunText {
  RunDocument document;
  std::string text;
  nlohmann::ordered_json reason;  // "trainyard_dropped" of a dropped document; null for others
  nlohmann::ordered_json fields;  // of the JSON object, without the text and the reason
};

// Finds a document as FindRunDocument does, and reads it from the output. Returns the errors of
// FindRunDocument and ReadOutputLine, and DataLoss if the part is damaged.
absl::StatusOr<RunText> ReadRunText(const StoredRun& run, const std::string& name);

// Returns at most `bytes_max` bytes, without a part of a character.
std::string_view BeginOfText(std::string_view text, size_t bytes_max);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_REPORT_RUN_TEXT_H_
