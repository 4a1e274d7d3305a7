#include "controller/core/support/text.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/contract/rank_set.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {

absl::Status CheckLength(const char* what, const std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the ", what, " is longer than ", max_bytes, " bytes"));
}

std::string Counted(int64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string KindName(v1::DeviceKind kind) { return EnumText(kind); }

std::string ShapeText(int nodes, int slots_per_node, v1::DeviceKind kind) {
  return absl::StrCat(Counted(nodes, "node"), " with ", slots_per_node, " ", KindName(kind),
                      slots_per_node == 1 ? " slot" : " slots", nodes == 1 ? "" : " each");
}

std::string MemoryText(int64_t bytes) {
  constexpr std::array kUnits = {"MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  int64_t size = int64_t{1} << 20;
  while (unit + 1 < kUnits.size() && bytes >= size * 1024) {
    size *= 1024;
    ++unit;
  }
  // Hundredths, in two steps: 100 * bytes could overflow.
  const int64_t hundredths = bytes % size * 100 / size;
  return absl::StrCat(bytes / size, hundredths == 0 ? "" : absl::StrFormat(".%02d", hundredths),
                      " ", kUnits.at(unit));
}

std::string RanksText(const std::vector<int>& ranks) {
  const std::vector<int64_t> numbers(ranks.begin(), ranks.end());
  return absl::StrCat(ranks.size() == 1 ? "rank " : "ranks ", RankSetText(numbers));
}

std::string JobText(const v1::Job& job) {
  return absl::StrCat("job ", job.id(), " (", job.name(), ")");
}

std::string PrerequisiteText(const v1::Prerequisite& prerequisite) {
  return absl::StrCat("job ", prerequisite.job_id(), " (", prerequisite.name(), ")");
}

std::string ConditionText(const v1::Prerequisite& prerequisite) {
  switch (prerequisite.condition()) {
    case v1::JOB_CONDITION_FAILURE:
      return "failure";
    case v1::JOB_CONDITION_END:
      return "end";
    case v1::JOB_CONDITION_CHECKPOINT:
      if (prerequisite.step() == 0) return "checkpoint";
      return absl::StrCat("checkpoint at step ", prerequisite.step(), " or later");
    default:
      return "success";
  }
}

}  // namespace trainyard::controller
