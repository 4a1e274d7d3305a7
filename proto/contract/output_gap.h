// Text that replaces, in a log, output dropped by its node for lack of disk space.
#ifndef TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
#define TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// Exactly `bytes` bytes, so that every byte after the gap keeps its offset: a line end for the
// preceding line, then lines that report the missing bytes, padded with blanks.
std::string FillGap(int64_t bytes);

// A line of FillGap without its padding; any other text unchanged.
std::string_view WithoutGapPadding(std::string_view line);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_OUTPUT_GAP_H_
