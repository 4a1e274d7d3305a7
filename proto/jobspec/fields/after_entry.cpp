#include "proto/jobspec/fields/after_entry.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trainyard {
namespace {

// Every number of this many digits fits into 64 bits.
constexpr std::size_t kMaxStepDigits = 18;

v1::JobCondition ConditionNamed(const std::string& word) {
  if (word == "success") return v1::JOB_CONDITION_SUCCESS;
  if (word == "failure") return v1::JOB_CONDITION_FAILURE;
  if (word == "end") return v1::JOB_CONDITION_END;
  if (word == "checkpoint") return v1::JOB_CONDITION_CHECKPOINT;
  return v1::JOB_CONDITION_UNSPECIFIED;
}

bool ParseStep(const std::string& text, int64_t& step) {
  const bool is_number = !text.empty() && text.size() <= kMaxStepDigits &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number && absl::SimpleAtoi(text, &step);
}

}  // namespace

absl::StatusOr<AfterEntry> ParseAfterEntry(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 2));
  AfterEntry entry;
  entry.job = parts[0];
  if (parts.size() == 1) return entry;
  entry.condition = ConditionNamed(parts[1]);
  if (entry.condition == v1::JOB_CONDITION_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", parts[1], "\" is not a condition; write success, failure, end or ",
                     "checkpoint, as in `", entry.job, ":failure`"));
  }
  if (parts.size() == 2) return entry;
  if (entry.condition != v1::JOB_CONDITION_CHECKPOINT) {
    return absl::InvalidArgumentError(absl::StrCat(
        "only the condition checkpoint can have a step; write `", entry.job, ":", parts[1], "`"));
  }
  if (!ParseStep(parts[2], entry.step)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", parts[2], "\" is not a step; write a whole number, as in `", entry.job,
                     ":checkpoint:5000`"));
  }
  return entry;
}

}  // namespace trainyard
