#include "controller/store/metrics/data_sets.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "proto/contract/data_report.h"

namespace trainyard::controller {
namespace {

using nlohmann::json;

// Linux limits a path to 4,096 bytes. Replacement characters may triple the length of a path that
// is not UTF-8.
constexpr std::size_t kPathBytesMax = 3 * 4096;
// Checksums have 16 hexadecimal digits.
constexpr std::size_t kChecksumBytesMax = 16;

std::string TextIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t CountIn(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace

ReportedDataSets DataSetsInReport(const std::string& report) {
  ReportedDataSets found;
  const json document = json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return found;
  found.reads = TextIn(document, kReportFormat) == kDataUseFormat;
  const auto list = document.find(kReportDataSets);
  if (list == document.end() || !list->is_array()) return found;
  for (const json& entry : *list) {
    if (found.sets.size() == kMaxReportDataSets) break;
    if (!entry.is_object()) continue;
    ReportedDataSet set{TextIn(entry, kReportPath), TextIn(entry, kReportChecksum),
                        CountIn(entry, kReportTokens)};
    if (set.path.empty() || set.path.size() > kPathBytesMax) continue;
    if (set.xxh64.size() > kChecksumBytesMax) continue;
    found.sets.push_back(std::move(set));
  }
  return found;
}

}  // namespace trainyard::controller
