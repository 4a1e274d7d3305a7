// How output looks in the log that its node had to give up for want of room.
#ifndef TRAINYARD_PROTO_SUPPORT_OUTPUT_GAP_H_
#define TRAINYARD_PROTO_SUPPORT_OUTPUT_GAP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// As many bytes as were given up, so that every byte after the gap keeps its offset: an end for the
// line before it, then lines that say what is missing, padded with blanks.
std::string FillGap(int64_t bytes);

// A line of FillGap without its padding; any other text as it is.
std::string_view WithoutGapPadding(std::string_view line);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_OUTPUT_GAP_H_
