// The text that a log shows in place of output that the node dropped for lack of disk space.
#ifndef TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
#define TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// Returns exactly `bytes` bytes, so that every byte after the gap keeps its offset. The first byte
// ends the preceding line. The other bytes are lines that report the number of missing bytes,
// padded with blanks.
std::string FillGap(int64_t bytes);

// Removes the padding from a line of FillGap. Returns any other line unchanged.
std::string_view WithoutGapPadding(std::string_view line);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
