// The order in which a blend takes samples from its sources, as a pure function of the shares.
//
// The period is the sum S of the shares: every S positions have shares[i] samples of source i. For
// every k, the first k positions have k * shares[i] / S samples of source i, with an error below
// one. So sample j (from 0) of source i must have a position in
// [floor(j * S / shares[i]), ceil((j + 1) * S / shares[i])). Among the samples whose interval has
// begun, the one whose interval ends first is taken. Earliest deadline first meets all deadlines if
// any order does. One does, because the shares add up to one sample per position (proportionate
// fair scheduling, Baruah and others, 1996).
#ifndef TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_
#define TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_

#include <cstdint>
#include <vector>

namespace trainyard::trainer {

// Immutable. Uses 5 bytes per position of a period.
class BlendOrder {
 public:
  struct Place {
    int64_t source = 0;
    int64_t index = 0;  // Index in the source's own order, from 0.
  };

  // Preconditions: 1 to 64 shares, each above 0, with a sum of at most kBlendPeriodMax.
  explicit BlendOrder(std::vector<int64_t> shares);

  // O(1).
  Place At(int64_t position) const;

  // Number of samples of `source` among the first `positions` positions. O(period).
  int64_t Count(int64_t source, int64_t positions) const;

  // Position of sample `place.index` of `place.source`. O(period).
  int64_t PositionOf(const Place& place) const;

 private:
  int64_t period() const { return static_cast<int64_t>(sources_.size()); }

  std::vector<int64_t> shares_;
  std::vector<uint8_t> sources_;   // Source of each position of a period.
  std::vector<uint32_t> indices_;  // Number of earlier samples of that source in the period.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_
