// The last lines that a command with a resumable run prints.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_STAGE_ENDING_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_STAGE_ENDING_H_

#include <cstdint>
#include <string>

namespace trainyard::data {

// Returns lines about bad and repaired input, if there was any, the directory and the next command.
// `bad_lines`: a summary of the bad lines; empty if there were none.
std::string StageEnding(const std::string& bad_lines, int64_t repaired,
                        const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_STAGE_ENDING_H_
