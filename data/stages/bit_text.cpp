#include "data/stages/bit_text.h"

#include <algorithm>

#include "absl/strings/escaping.h"

namespace trainyard::data {

std::string BitText(const std::vector<bool>& bits) {
  std::string bytes((bits.size() + 7) / 8, '\0');
  for (size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | 1 << i % 8);
  }
  return absl::Base64Escape(bytes);
}

std::vector<bool> BitsOf(const std::string& text, size_t count) {
  std::string bytes;
  absl::Base64Unescape(text, &bytes);
  std::vector<bool> bits(count);
  for (size_t i = 0; i < std::min(count, bytes.size() * 8); ++i) {
    bits[i] = (static_cast<unsigned char>(bytes[i / 8]) >> i % 8 & 1) != 0;
  }
  return bits;
}

}  // namespace trainyard::data
