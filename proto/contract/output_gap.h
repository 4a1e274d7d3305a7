// The text that a log shows in place of output that the node dropped for lack of disk space.
#ifndef TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
#define TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// Returns exactly `bytes` bytes, so that every byte after the gap keeps its offset. The first byte
// ends the preceding line. Then come lines that report the missing bytes, padded with blanks.
std::string FillGap(int64_t bytes);

// Returns a line of FillGap without its padding. Returns any other text unchanged.
std::string_view WithoutGapPadding(std::string_view line);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
