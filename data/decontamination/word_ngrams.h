// Hashes of all runs of n words of a text.
#ifndef TRAINYARD_DATA_DECONTAMINATION_WORD_NGRAMS_H_
#define TRAINYARD_DATA_DECONTAMINATION_WORD_NGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::data {

// A run of n words has the hash of the sum of w[i] * kFactor^(n - 1 - i), mixed with n, so that
// runs of different lengths differ. The sum follows from that of the previous run.
class NgramRoller {
 public:
  explicit NgramRoller(size_t length) : length_(length) {
    for (size_t i = 1; i < length; ++i) first_factor_ *= kFactor;
  }

  // Calls `take` with the hash of each run of the words, in order. Does nothing if there are fewer
  // words than the length.
  template <typename Take>
  void ForEach(const std::vector<uint64_t>& words, const Take& take) const {
    uint64_t sum = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i >= length_) sum -= words[i - length_] * first_factor_;
      sum = sum * kFactor + words[i];
      if (i + 1 >= length_) take(Mixed(sum));
    }
  }

 private:
  static constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;  // odd

  // The finalizer of MurmurHash3. Without it, low bits would depend only on low bits.
  uint64_t Mixed(uint64_t hash) const {
    hash += length_;
    hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCD;
    hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53;
    return hash ^ hash >> 33;
  }

  const size_t length_;
  uint64_t first_factor_ = 1;  // kFactor^(length_ - 1)
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DECONTAMINATION_WORD_NGRAMS_H_
