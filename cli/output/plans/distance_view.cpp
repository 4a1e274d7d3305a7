#include "cli/output/plans/distance_view.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"

namespace trainyard::cli {
namespace {

std::string AxisText(const std::string& axis) {
  static const std::map<std::string, const char*> kNames = {{"tp", "tensor parallel"},
                                                            {"cp", "context parallel"},
                                                            {"dp", "data parallel"},
                                                            {"pp", "pipeline"},
                                                            {"ep", "experts"}};
  const auto found = kNames.find(axis);
  return found == kNames.end() ? axis : found->second;
}

std::string PlaceText(const v1::AxisDistance& distance) {
  if (distance.crossed_level().empty()) return "stays within nodes";
  return absl::StrCat("crosses ", distance.crossed_level());
}

std::string LimitText(const v1::AxisDistance& distance) {
  const std::string& crossed = distance.crossed_level();
  if (crossed.empty()) return absl::StrCat(" (", distance.limit(), ")");
  std::string text;
  if (distance.limit() != crossed) absl::StrAppend(&text, ", limited by ", distance.limit());
  if (distance.is_assumed()) {
    absl::StrAppend(&text, " (assumed; the topology has no bandwidth for ", distance.limit(), ")");
  }
  return text;
}

}  // namespace

std::string DistancesText(const google::protobuf::RepeatedPtrField<v1::AxisDistance>& distances) {
  std::string text;
  for (const v1::AxisDistance& distance : distances) {
    absl::StrAppend(&text, "  ", AxisText(distance.axis()), " ", PlaceText(distance), ": ",
                    NumberText(distance.bytes_per_second() / 1e9, 3), " GB/s per GPU",
                    LimitText(distance), "\n");
  }
  return text;
}

}  // namespace trainyard::cli
