// The report that a job sends to the controller in parts: that of the data set that a data job
// makes, or the data sets that a training job reads. data/report/README.md describes both.
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

// The key of the format, and the formats of the two reports.
inline constexpr char kReportFormat[] = "format";
inline constexpr char kDataReportFormat[] = "trainyard-data-report";
inline constexpr char kDataUseFormat[] = "trainyard-data-use";
inline constexpr int kDataUseVersion = 1;

// Keys of both reports: a list of data sets. The checksum is that of the training tokens, and
// identifies a data set in all its copies. Empty if the format of the data set has none.
inline constexpr char kReportDataSets[] = "data_sets";
inline constexpr char kReportPath[] = "path";
inline constexpr char kReportChecksum[] = "xxh64";
inline constexpr char kReportTokens[] = "tokens";
// The maximum number of listed data sets.
inline constexpr std::size_t kMaxReportDataSets = 100;

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_DATA_REPORT_H_
