// Ranges of the sample order that are never trained on.
//
// Sample number k of a run is the k-th position (from 0) outside of all ranges. A new range must
// therefore lie ahead of the samples already used. A range behind them would shift the following
// samples, and as many of them as the range has positions would never be trained on.
#ifndef TRAINYARD_TRAINER_DATA_SKIP_RANGES_H_
#define TRAINYARD_TRAINER_DATA_SKIP_RANGES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::trainer {

// Positions [begin, end) of the sample order.
struct SkipRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SkipRange&) const = default;
};

// Every list below is sorted and merged, as returned by ParseSkipRanges.

// Parses TRAINYARD_SKIP_SAMPLES: "a:b,c:d", half-open; empty: no ranges. Throws TrainerError
// kBadConfig.
std::vector<SkipRange> ParseSkipRanges(const std::string& text);

// Inverse of ParseSkipRanges.
std::string SkipRangesToText(const std::vector<SkipRange>& ranges);

// Position of sample number `sample` in the sample order.
int64_t PositionOf(int64_t sample, const std::vector<SkipRange>& skip);

// Merges `skip` with the parts of `more` that lie after the first `samples` samples. Those samples
// used `skip` alone and keep their positions.
std::vector<SkipRange> WithRangesAhead(std::vector<SkipRange> skip,
                                       const std::vector<SkipRange>& more, int64_t samples);

// The ranges that are not inside one of `others`.
std::vector<SkipRange> RangesOutside(const std::vector<SkipRange>& ranges,
                                     const std::vector<SkipRange>& others);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_SKIP_RANGES_H_
