#include "data/tokens/token_packer.h"

#include <bit>
#include <cstring>

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr int64_t kVocabOfTwoBytes = 65536;

template <typename Stored>
void PackAs(const std::vector<uint32_t>& tokens, char* output) {
  for (const uint32_t token : tokens) {
    const Stored stored = static_cast<Stored>(token);
    std::memcpy(output, &stored, sizeof(stored));
    output += sizeof(stored);
  }
}

}  // namespace

int BytesPerToken(int64_t vocab_size) { return vocab_size <= kVocabOfTwoBytes ? 2 : 4; }

void TokenPacker::Pack(const std::vector<uint32_t>& tokens, std::string* packed) {
  const size_t before = packed->size();
  packed->resize(before + tokens.size() * static_cast<size_t>(bytes_per_token_));
  if (bytes_per_token_ == 2) {
    PackAs<uint16_t>(tokens, packed->data() + before);
  } else {
    PackAs<uint32_t>(tokens, packed->data() + before);
  }
  for (const uint32_t token : tokens) ++counts_[token];
}

}  // namespace trainyard::data
