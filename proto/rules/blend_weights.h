// The weights of a blend, as exact ratios.
#ifndef TRAINYARD_PROTO_RULES_BLEND_WEIGHTS_H_
#define TRAINYARD_PROTO_RULES_BLEND_WEIGHTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// The maximum period of a blend. After a period, in samples, the mixture repeats. The period is
// limited because the trainer keeps a table with one entry per sample of the period.
inline constexpr int64_t kBlendPeriodMax = int64_t{1} << 22;

// The number digits * 10^exponent. `digits` is 0, or positive and not a multiple of 10.
struct BlendWeight {
  int64_t digits = 0;
  int exponent = 0;
};

// Returns nullopt unless the text is a decimal number with at most 15 digits. The number may be 0,
// but not negative.
std::optional<BlendWeight> ReadWeight(const std::string& text);

// Returns the smallest integers in the ratio of the weights, at least one of which must be above 0.
// Empty if their sum is above kBlendPeriodMax. A weight of 0 gives the share 0.
std::vector<int64_t> SharesOf(const std::vector<BlendWeight>& weights);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BLEND_WEIGHTS_H_
