// Decisions about documents during duplicate removal: a file per block, from rank 0 to the others.
#ifndef TRAINYARD_DATA_PIPELINE_DECISIONS_H_
#define TRAINYARD_DATA_PIPELINE_DECISIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/dedup/decider.h"

namespace trainyard::data {

// Name of the directory of WriteDecisions, for WorkDirectoryOf.
inline constexpr char kDecisions[] = "decisions";
// Prefix of the names of directories for WriteWanted, before the name of the pass.
inline constexpr char kWanted[] = "wanted-";

// Writes a file for each block of the new documents, also if no document is dropped, so that a
// missing file is an error. Replaces earlier files. `blocks`: the number of these blocks.
absl::Status WriteDecisions(const Decider& decider, size_t blocks, const std::string& directory);

// The name of the stage, and the key of its details in report.json.
inline constexpr char kDedupStage[] = "dedup";

// Returns Stage::details, which WriteDecisions has written. Returns those of report.json in `out`
// if the decisions of a complete step have been deleted; null if there are none.
nlohmann::ordered_json ReadDetails(const std::string& directory, const std::string& out);

// Returns the reasons of the dropped documents of a block, by their index in the block. Returns
// DataLoss for a missing or damaged file.
absl::StatusOr<std::map<uint64_t, std::string>> ReadDecisions(const std::string& directory,
                                                              size_t block);

// Writes which documents of some blocks need shingles. `first_block`: the number of the first block
// in `numbers`.
absl::Status WriteWanted(const DocumentNumbers& numbers, const std::vector<bool>& wanted,
                         size_t first_block, size_t blocks, const std::string& directory);

// Returns the indices of the documents of a block, in ascending order. Returns DataLoss for a
// missing or damaged file.
absl::StatusOr<std::vector<uint64_t>> ReadWanted(const std::string& directory, size_t block);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_DECISIONS_H_
