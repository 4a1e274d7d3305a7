// Ranges of the sample order that are not trained on.
//
// Sample number k of a run is the k-th position (from 0) that is not in any range. A new range must
// therefore begin after all samples that have been used. A range before a used sample would shift
// the numbers of all later samples. The run would then skip as many unused samples as the range has
// positions.
#ifndef TRAINYARD_PROTO_SAMPLES_SKIP_RANGES_H_
#define TRAINYARD_PROTO_SAMPLES_SKIP_RANGES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

// Positions [begin, end) of the sample order.
struct SkipRange {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SkipRange&) const = default;
};

// All lists in the functions below are sorted and merged, as ReadSkipRanges returns them.

struct SkipRanges {
  std::vector<SkipRange> ranges;
  std::string problem;  // One sentence part about the text; empty if the text is valid.
};

// Reads the format of TRAINYARD_SKIP_SAMPLES: half-open ranges "a:b,c:d"; empty if there are none.
SkipRanges ReadSkipRanges(const std::string& text);

// Inverse of ReadSkipRanges.
std::string SkipRangesToText(const std::vector<SkipRange>& ranges);

// Returns the position of sample number `sample` in the sample order.
int64_t PositionOf(int64_t sample, const std::vector<SkipRange>& skip);

// Returns `skip` merged with the parts of `more` that are after the first `samples` samples. These
// samples were chosen with `skip` alone, so their positions do not change.
std::vector<SkipRange> WithRangesAhead(std::vector<SkipRange> skip,
                                       const std::vector<SkipRange>& more, int64_t samples);

// Returns the ranges that are not completely inside one of `others`.
std::vector<SkipRange> RangesOutside(const std::vector<SkipRange>& ranges,
                                     const std::vector<SkipRange>& others);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_SKIP_RANGES_H_
