// Limits of the report of a data set, which a data job sends to the controller in parts.
#ifndef TRAINYARD_PROTO_CONTRACT_DATA_REPORT_H_
#define TRAINYARD_PROTO_CONTRACT_DATA_REPORT_H_

#include <cstddef>

namespace trainyard {

// The maximum size of a report.
inline constexpr std::size_t kMaxDataReportBytes = std::size_t{1} << 20;

// The maximum size of a part. A part is text in a telemetry line of at most 64 KiB. Escaping may
// double its length.
inline constexpr std::size_t kMaxDataReportPartBytes = std::size_t{30} << 10;

// The maximum number of parts. A part may be 3 bytes shorter than the maximum, because no part ends
// within a character.
inline constexpr int kMaxDataReportParts =
    static_cast<int>(kMaxDataReportBytes / (kMaxDataReportPartBytes - 3)) + 1;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DATA_REPORT_H_
