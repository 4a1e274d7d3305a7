#include "data/tokenizer/byte_tokenizer.h"

#include <algorithm>
#include <cstddef>

namespace trainyard::data {
namespace {

class ByteTokenizer : public Tokenizer {
 public:
  void Encode(std::string_view text, std::vector<uint32_t>* ids) const override {
    const size_t before = ids->size();
    ids->resize(before + text.size());
    std::transform(text.begin(), text.end(), ids->begin() + static_cast<std::ptrdiff_t>(before),
                   [](char c) { return static_cast<unsigned char>(c); });
  }
  std::string Decode(const std::vector<uint32_t>& ids) const override {
    std::string text;
    for (const uint32_t id : ids) {
      if (id < kBytes) text += static_cast<char>(id);
    }
    return text;
  }
  int64_t vocab_size() const override { return kBytes + 1; }
  uint32_t end_of_document() const override { return kBytes; }
  std::string kind() const override { return "byte"; }
  uint64_t fingerprint() const override { return kFingerprint; }

 private:
  static constexpr uint32_t kBytes = 256;
  // An arbitrary number, because no file defines this tokenizer. Data sets contain it.
  static constexpr uint64_t kFingerprint = 0x7472616E79617264;
};

}  // namespace

std::unique_ptr<Tokenizer> MakeByteTokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace trainyard::data
