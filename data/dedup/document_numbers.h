// Numbers of documents in the order of the inputs.
#ifndef TRAINYARD_DATA_DEDUP_DOCUMENT_NUMBERS_H_
#define TRAINYARD_DATA_DEDUP_DOCUMENT_NUMBERS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::data {

// A document while the number of documents in earlier blocks is unknown. The order of ids is that
// of the inputs.
inline uint64_t DocumentId(size_t block, uint32_t index) { return uint64_t{block} << 32 | index; }

// Converts between ids and numbers, which count from 0 without gaps.
class DocumentNumbers {
 public:
  // `counts`: the number of documents of each block.
  explicit DocumentNumbers(const std::vector<uint32_t>& counts) : begins_(1, 0) {
    for (const uint32_t count : counts) begins_.push_back(begins_.back() + count);
  }

  struct Place {
    size_t block = 0;
    uint32_t index = 0;
  };

  uint64_t documents() const { return begins_.back(); }
  uint64_t FirstOf(size_t block) const { return begins_[block]; }
  uint64_t NumberOf(uint64_t id) const { return begins_[id >> 32] + static_cast<uint32_t>(id); }
  // `number` must be less than documents().
  Place PlaceOf(uint64_t number) const {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), number);
    const size_t block = static_cast<size_t>(after - begins_.begin()) - 1;
    return {block, static_cast<uint32_t>(number - begins_[block])};
  }

 private:
  std::vector<uint64_t> begins_;  // of each block, then the number of documents
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_DOCUMENT_NUMBERS_H_
