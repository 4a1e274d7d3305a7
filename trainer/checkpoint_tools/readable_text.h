// Counts, sizes and tables for a person.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_READABLE_TEXT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_READABLE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::trainer {

// "1 file", "2 files".
std::string CountText(int64_t count, const std::string& noun);

// "512 B", "1.5 KiB", "2.0 GiB".
std::string BytesText(int64_t bytes);

// Four significant digits: "1.234e-07", "inf".
std::string ValueText(double value);

// Lines of cells in columns as wide as their widest cell; the first row has the titles. Every row
// has the same number of cells.
std::string TableText(const std::vector<std::vector<std::string>>& rows);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_READABLE_TEXT_H_
