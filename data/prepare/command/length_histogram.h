// Percentiles of the lengths of documents in constant memory.
#ifndef TRAINYARD_DATA_PREPARE_COMMAND_LENGTH_HISTOGRAM_H_
#define TRAINYARD_DATA_PREPARE_COMMAND_LENGTH_HISTOGRAM_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace trainyard::data {

// Exact below 256. Above, a percentile is up to 1/128 smaller than the exact one.
class LengthHistogram {
 public:
  void Add(int64_t length) {
    ++counts_[BucketOf(static_cast<uint64_t>(length))];
    ++total_;
    if (length > max_) max_ = length;
  }

  // Returns the smallest length that at least `fraction` of the documents do not exceed; 0 if there
  // are none.
  int64_t Percentile(double fraction) const {
    const double wanted = fraction * static_cast<double>(total_);
    int64_t seen = 0;
    for (size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      seen += counts_[bucket];
      if (counts_[bucket] > 0 && static_cast<double>(seen) >= wanted) return LengthOf(bucket);
    }
    return 0;
  }

  int64_t total() const { return total_; }
  int64_t max() const { return max_; }

 private:
  // A length has its 8 highest bits and the number of bits below them.
  static constexpr int kBits = 8;
  static constexpr size_t kHalf = size_t{1} << (kBits - 1);

  static size_t BucketOf(uint64_t length) {
    const int shift = length >> kBits == 0 ? 0 : std::bit_width(length) - kBits;
    return static_cast<size_t>(shift) * kHalf + (length >> shift);
  }
  // The smallest length of the bucket.
  static int64_t LengthOf(size_t bucket) {
    if (bucket < 2 * kHalf) return static_cast<int64_t>(bucket);
    const size_t shift = bucket / kHalf - 1;
    return static_cast<int64_t>((bucket - shift * kHalf) << shift);
  }

  std::array<int64_t, kHalf*(64 - kBits + 2)> counts_{};
  int64_t total_ = 0;
  int64_t max_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_COMMAND_LENGTH_HISTOGRAM_H_
