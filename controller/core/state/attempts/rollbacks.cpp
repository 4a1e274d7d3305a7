#include "controller/core/state/attempts/rollbacks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace trainyard::controller {
namespace {

using Range = std::pair<int64_t, int64_t>;

// The largest position that trainers accept (proto/samples/skip_ranges.cpp).
constexpr int64_t kLastPosition = int64_t{1} << 53;
// An upper bound on the number of samples that the steps between two records can contain.
constexpr int64_t kMostSamples = int64_t{1} << 33;

}  // namespace

bool IsRolledBack(const v1::Job& job, const v1::Checkpoint& checkpoint) {
  return std::ranges::any_of(job.rollbacks(), [&](const v1::Rollback& rollback) {
    return checkpoint.attempt() <= rollback.attempt() &&
           checkpoint.step() >= rollback.first_bad_step();
  });
}

void MarkRolledBack(v1::Job& job) {
  for (v1::Checkpoint& checkpoint : *job.mutable_checkpoints()) {
    if (IsRolledBack(job, checkpoint)) checkpoint.set_rolled_back(true);
  }
}

std::string SkippedSamples(const v1::Job& job) {
  std::vector<Range> ranges;
  for (const v1::Rollback& rollback : job.rollbacks()) {
    const std::vector<std::string> ends = absl::StrSplit(rollback.skip_samples(), ':');
    Range range;
    const bool is_range = ends.size() == 2 && absl::SimpleAtoi(ends[0], &range.first) &&
                          absl::SimpleAtoi(ends[1], &range.second);
    if (is_range) ranges.push_back(range);
  }
  std::ranges::sort(ranges);
  std::vector<Range> joined;
  for (const Range& range : ranges) {
    if (!joined.empty() && range.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, range.second);
    } else {
      joined.push_back(range);
    }
  }
  return absl::StrJoin(joined, ",", [](std::string* text, const Range& range) {
    absl::StrAppend(text, range.first, ":", range.second);
  });
}

std::string RangeToSkip(const v1::SampleRange& samples, int64_t batches) {
  const bool is_range =
      0 <= samples.begin() && samples.begin() < samples.end() && samples.end() <= kLastPosition;
  if (!is_range || samples.end() - samples.begin() > kMostSamples) return "";
  const int64_t count = (samples.end() - samples.begin()) * std::max<int64_t>(batches, 1);
  return absl::StrCat(samples.begin(), ":", std::min(samples.begin() + count, kLastPosition));
}

double LearningRateFactor(const v1::Job& job) {
  double factor = 1;
  for (const v1::Rollback& rollback : job.rollbacks()) {
    if (rollback.lr_factor() > 0) factor *= rollback.lr_factor();
  }
  return factor;
}

std::string RolledBackText(const v1::Job& job) {
  return absl::StrJoin(job.rollbacks(), ",", [](std::string* text, const v1::Rollback& rollback) {
    absl::StrAppend(text, rollback.attempt(), ":", rollback.first_bad_step());
  });
}

}  // namespace trainyard::controller
