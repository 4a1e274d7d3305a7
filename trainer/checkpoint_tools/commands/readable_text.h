// Formats counts, sizes and tables for users.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_READABLE_TEXT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_READABLE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::trainer {

// Formats as "1 file" or "2 files".
std::string CountText(int64_t count, const std::string& noun);

// Formats as "512 B", "1.5 KiB" or "2.0 GiB".
std::string BytesText(int64_t bytes);

// Formats with four significant digits: "1.234e-07", "inf".
std::string ValueText(double value);

// Formats a table in which each column is as wide as its widest cell. The first row contains the
// titles. All rows must have the same number of cells.
std::string TableText(const std::vector<std::vector<std::string>>& rows);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_COMMANDS_READABLE_TEXT_H_
