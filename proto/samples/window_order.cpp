#include "proto/samples/window_order.h"

#include <bit>

namespace trainyard {
namespace {

// The finalizer of MurmurHash3. A change of any input bit flips each output bit with probability
// near 1/2.
uint64_t Mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  value ^= value >> 33;
  return value;
}

// Returns a round key for a seed and an epoch. Neighboring seeds or epochs have different round
// keys.
uint64_t RoundKey(uint64_t seed, int64_t epoch, uint64_t round) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio
  return Mix(Mix(Mix(seed + kGolden) ^ (static_cast<uint64_t>(epoch) + kGolden)) + round * kGolden);
}

// The number of rounds of a balanced Feistel network, which permutes [0, 2^(2 * half_bits)).
constexpr int kRounds = 6;

class Feistel {
 public:
  Feistel(uint64_t seed, int64_t epoch, int half_bits)
      : half_bits_(half_bits), mask_((uint64_t{1} << half_bits) - 1) {
    for (int round = 0; round < kRounds; ++round) keys_[round] = RoundKey(seed, epoch, round);
  }

  uint64_t operator()(uint64_t value) const {
    uint64_t left = value >> half_bits_;
    uint64_t right = value & mask_;
    for (const uint64_t key : keys_) {
      const uint64_t next = left ^ (Mix(right ^ key) & mask_);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

 private:
  const int half_bits_;
  const uint64_t mask_;
  uint64_t keys_[kRounds];
};

// Returns the seed of a source. Each source has its own seed, so that files of equal size are read
// in different orders. Source 0, which is also the source of a run with a single file, uses the
// run's seed.
uint64_t SeedOf(uint64_t seed, int64_t source) {
  // Large, so that a source of one run does not get the seed of another run with a similar seed.
  constexpr uint64_t kOdd = 0xd1342543de82ef95ULL;
  return seed + static_cast<uint64_t>(source) * kOdd;
}

}  // namespace

int64_t PermuteIndex(uint64_t seed, int64_t epoch, int64_t size, int64_t index) {
  if (size <= 1) return 0;
  // The network permutes the smallest range 4^n >= size, which is less than four times `size`. The
  // network is applied until the value is below `size` (cycle walking), on average fewer than four
  // times.
  const int bits = std::bit_width(static_cast<uint64_t>(size - 1));
  const Feistel permute(seed, epoch, (bits + 1) / 2);
  uint64_t value = static_cast<uint64_t>(index);
  do {
    value = permute(value);
  } while (value >= static_cast<uint64_t>(size));
  return static_cast<int64_t>(value);
}

int64_t WindowsIn(int64_t tokens, int64_t seq_length) {
  return tokens > 0 ? (tokens - 1) / seq_length : 0;
}

Window ShuffledWindow(const BlendOrder::Place& place, uint64_t seed, int64_t windows) {
  const int64_t epoch = place.index / windows;
  const int64_t index = place.index % windows;
  return {epoch, PermuteIndex(SeedOf(seed, place.source), epoch, windows, index)};
}

}  // namespace trainyard
