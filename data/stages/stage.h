// A stage reads documents and keeps, changes or drops each of them.
#ifndef TRAINYARD_DATA_STAGES_STAGE_H_
#define TRAINYARD_DATA_STAGES_STAGE_H_

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "data/stages/block_documents.h"

namespace trainyard::data {

// Receives the documents of one block. Errors are those of PartWriter.
class BlockOutput {
 public:
  virtual ~BlockOutput() = default;

  // Writes `json`, a JSON object without a line end, to part-*. `text_bytes`: size of its text.
  virtual absl::Status Keep(std::string_view json, size_t text_bytes) = 0;
  // Writes `json` to dropped-* and counts `document` for `reason`.
  virtual absl::Status Drop(const Document& document, const std::string& reason,
                            std::string_view json) = 0;
};

// Calls Keep or Drop once for the document, or returns an error, which ends the run.
using ProcessDocument = std::function<absl::Status(const Document&, BlockOutput*)>;

// The output for a block must depend only on `settings` and on the documents of the block.
struct Stage {
  std::string name;
  nlohmann::ordered_json settings;  // with a version of the code
  // Facts about the result, which report.json contains under the name of the stage. Like the output
  // itself, they must depend only on the plan.
  nlohmann::ordered_json details;
  // Called at the begin of each block by any thread. The result is used by one thread.
  std::function<ProcessDocument()> begin_block;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_STAGE_H_
