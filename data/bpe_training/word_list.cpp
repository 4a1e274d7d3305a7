#include "data/bpe_training/word_list.h"

#include <algorithm>

namespace trainyard::data {
namespace {

constexpr size_t kFirstElements = size_t{1} << 16;

}  // namespace

bool WordList::Add(std::string_view word, int64_t count) {
  const size_t needed = SizeWith(word.size());
  if (needed > elements_.size() &&
      !elements_.Resize(std::max({kFirstElements, needed, elements_.size() * 2}))) {
    return false;
  }
  uint32_t* const added = &elements_[used_];
  std::memcpy(added, &count, sizeof(count));
  added[2] = static_cast<uint32_t>(word.size());
  std::transform(word.begin(), word.end(), added + kHeader,
                 [](char byte) { return static_cast<uint8_t>(byte); });
  used_ = needed;
  return true;
}

}  // namespace trainyard::data
