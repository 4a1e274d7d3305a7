// The order in which a blend takes samples from its sources: a pure function of the shares.
//
// The sum S of the shares is the period: every S positions, source i gives shares[i] samples. Among
// the first k positions source i has less than one sample more or less than k * shares[i] / S, for
// every k. Sample j of source i (from 0) must therefore have a position in
// [floor(j * S / shares[i]), ceil((j + 1) * S / shares[i])), and of the samples whose interval has
// begun the one whose interval ends first is taken. (Earliest deadline first meets all deadlines
// when any order does, and the shares add up to one sample a position: proportionate fair
// scheduling, Baruah and others, 1996.)
#ifndef TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_
#define TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_

#include <cstdint>
#include <vector>

namespace trainyard::trainer {

// Immutable. Holds 5 bytes for each position of a period.
class BlendOrder {
 public:
  struct Place {
    int64_t source = 0;
    int64_t index = 0;  // Of the sample in the source's own order, from 0.
  };

  // Preconditions: 1 to 64 shares, each above 0, their sum at most kBlendPeriodMax.
  explicit BlendOrder(std::vector<int64_t> shares);

  // O(1).
  Place At(int64_t position) const;

  // Samples of `source` among the first `positions` positions. O(period).
  int64_t Count(int64_t source, int64_t positions) const;

  // Position of sample `index` of `source`. O(period).
  int64_t PositionOf(const Place& place) const;

 private:
  int64_t period() const { return static_cast<int64_t>(sources_.size()); }

  std::vector<int64_t> shares_;
  std::vector<uint8_t> sources_;   // Of each position of a period.
  std::vector<uint32_t> indices_;  // Likewise: samples of the same source before it.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_BLEND_ORDER_H_
