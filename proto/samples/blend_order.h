// The order in which a blend takes samples from its sources, as a pure function of the shares.
//
// The period is the sum S of the shares. In every S consecutive positions, source i has shares[i]
// samples. For every k, the number of samples of source i among the first k positions differs from
// k * shares[i] / S by less than one. Therefore sample j (from 0) of source i must have a position
// in [floor(j * S / shares[i]), ceil((j + 1) * S / shares[i])). At each position, the algorithm
// considers the samples whose interval has begun, and takes the one whose interval ends first. This
// rule, earliest deadline first, meets all deadlines if any order does. Such an order exists,
// because the shares add up to one sample per position (proportionate fair scheduling, Baruah and
// others, 1996). A source with share 0 has no samples.
#ifndef TRAINYARD_PROTO_SAMPLES_BLEND_ORDER_H_
#define TRAINYARD_PROTO_SAMPLES_BLEND_ORDER_H_

#include <cstdint>
#include <vector>

namespace trainyard {

// The order of a blend. Immutable. Uses 5 bytes of memory per position of a period.
class BlendOrder {
 public:
  struct Place {
    int64_t source = 0;
    int64_t index = 0;  // Index of the sample in its source's own order, from 0.
  };

  // Preconditions: there are 1 to 64 shares, none is negative, and their sum is from 1 to
  // kBlendPeriodMax.
  explicit BlendOrder(std::vector<int64_t> shares);

  // O(1).
  Place At(int64_t position) const;

  // Returns the number of samples of `source` among the first `positions` positions. Takes
  // O(period) time.
  int64_t Count(int64_t source, int64_t positions) const;

  // Returns the position of sample number `place.index` of `place.source`. Takes O(period) time.
  // The share of the source must be above 0.
  int64_t PositionOf(const Place& place) const;

 private:
  int64_t period() const { return static_cast<int64_t>(sources_.size()); }

  std::vector<int64_t> shares_;
  std::vector<uint8_t> sources_;   // Source of each position of a period.
  std::vector<uint32_t> indices_;  // Number of earlier samples of the same source in the period.
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SAMPLES_BLEND_ORDER_H_
