#include "trainer/checkpoint_tools/hugging_face/ordered_stream.h"

#include <algorithm>
#include <cstring>

namespace trainyard::trainer {

void OrderedStream::Read(int64_t elements, char* out) {
  if (rotary_.count == 0) return stream_->Read(elements, out);
  for (int64_t left = elements * element_bytes_; left > 0;) {
    const int64_t row = next_ / row_bytes_, head = row - row % rotary_.head;
    const int64_t first = (head + rotary_.first) * row_bytes_;
    const int64_t end = first + rotary_.count * row_bytes_;
    const bool is_rotated = next_ >= first && next_ < end;
    if (next_ == first) ReadRotated(head + rotary_.first);
    const int64_t limit =
        is_rotated ? end : (next_ < first ? first : (head + rotary_.head) * row_bytes_);
    const int64_t taken = std::min(left, limit - next_);
    if (is_rotated) {
      std::memcpy(out, rotated_.data() + (next_ - first), static_cast<size_t>(taken));
    } else {
      stream_->Read(taken / element_bytes_, out);
    }
    next_ += taken;
    out += taken;
    left -= taken;
  }
}

void OrderedStream::ReadRotated(int64_t first) {
  std::string ours(static_cast<size_t>(rotary_.count * row_bytes_), '\0');
  stream_->Read(rotary_.count * row_bytes_ / element_bytes_, ours.data());
  rotated_.resize(ours.size());
  for (int64_t row = 0; row < rotary_.count; ++row) {
    const int64_t theirs = TheirRow(rotary_, first + row) - first;
    std::memcpy(rotated_.data() + theirs * row_bytes_, ours.data() + row * row_bytes_,
                static_cast<size_t>(row_bytes_));
  }
}

}  // namespace trainyard::trainer
