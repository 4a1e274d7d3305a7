// Reads llm.c's and nanoGPT's token files. llm.c's files begin with 256 little-endian int32: magic
// number, version, token count, and zeros. nanoGPT's files have no header.
#include <algorithm>

#include "trainer/data/token_layout.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kLlmcHeaderBytes = 256 * sizeof(int32_t);

struct Variant {
  int32_t magic;
  int32_t version;
  TokenType type;
  const char* tokenizer;
};

constexpr Variant kVariants[] = {{20240520, 1, TokenType::kUint16, "llm.c's of GPT-2"},
                                 {20240801, 7, TokenType::kUint32, "llm.c's of LLaMA 3"}};

int32_t HeaderNumber(const MappedFile& data, int64_t place) {
  return LoadLittleEndian<int32_t>(data.data() + place * sizeof(int32_t));
}

// Returns null if the file does not begin with a known magic number.
const Variant* VariantOf(const MappedFile& data) {
  if (data.bytes() < sizeof(int32_t)) return nullptr;
  for (const Variant& variant : kVariants) {
    if (HeaderNumber(data, 0) == variant.magic) return &variant;
  }
  return nullptr;
}

// Values checked for uint32 ids in a file of uint16.
constexpr int64_t kValuesChecked = 4096;
constexpr int64_t kValuesNeeded = 128;
// The upper halves of ids below 2^20, more than any vocabulary has.
constexpr uint16_t kUpperHalfMax = 15;

// True if the values at odd places are small, and most of the others are not: the upper and lower
// halves of uint32 ids.
bool LooksLikeUint32(const MappedFile& data) {
  const int64_t values = std::min(static_cast<int64_t>(data.bytes() / 2), kValuesChecked) / 2 * 2;
  int64_t large = 0;
  for (int64_t i = 0; i < values; ++i) {
    const bool is_large = LoadLittleEndian<uint16_t>(data.data() + i * 2) > kUpperHalfMax;
    if (is_large && i % 2 == 1) return false;
    large += is_large ? 1 : 0;
  }
  return values >= kValuesNeeded && large > values / 4;
}

}  // namespace

bool BeginsLikeLlmc(const MappedFile& data) { return VariantOf(data) != nullptr; }

DescribedTokens ReadLlmcTokens(const MappedFile& data) {
  const Variant* variant = VariantOf(data);
  if (variant == nullptr) {
    ThrowBadData(data.path(),
                 "does not begin with 20240520 or 20240801, so it is not a token file of llm.c; "
                 "correct data.path or "
                 "data.format");
  }
  if (data.bytes() < static_cast<size_t>(kLlmcHeaderBytes)) {
    ThrowBadData(data.path(), "has " + std::to_string(data.bytes()) +
                                  " bytes, but the header alone has " +
                                  std::to_string(kLlmcHeaderBytes) +
                                  " bytes, so the file is truncated; copy it again");
  }
  const int32_t version = HeaderNumber(data, 1), tokens = HeaderNumber(data, 2);
  if (version != variant->version) {
    ThrowBadData(data.path(), "is a token file of llm.c of version " + std::to_string(version) +
                                  "; for magic " + std::to_string(variant->magic) +
                                  " this program reads only version " +
                                  std::to_string(variant->version) +
                                  "; create the file again with that version");
  }
  const int64_t rest = static_cast<int64_t>(data.bytes()) - kLlmcHeaderBytes;
  const int64_t width = BytesOf(variant->type);
  if (tokens < 0 || rest != tokens * width) {
    ThrowBadData(data.path(), "has " + std::to_string(rest) +
                                  " bytes after its header, which declares " +
                                  std::to_string(tokens) + " tokens of " + std::to_string(width) +
                                  " bytes; the file is truncated or damaged, so copy it again");
  }
  DescribedTokens read;
  read.layout = {variant->type, kLlmcHeaderBytes, tokens};
  read.header.tokens = tokens;
  read.header.tokenizer = variant->tokenizer;
  return read;
}

DescribedTokens ReadNanogptTokens(const MappedFile& data) {
  const int64_t width = BytesOf(TokenType::kUint16);
  if (BeginsLikeLlmc(data) || BeginsLikeMegatronIndex(data)) {
    ThrowBadData(
        data.path(),
        "has a header, but nanoGPT's files have none; set data.format to llmc or megatron");
  }
  if (data.bytes() % width != 0) {
    ThrowBadData(data.path(),
                 "has " + std::to_string(data.bytes()) +
                     " bytes, which is not a whole number of uint16, so the file is truncated or "
                     "was not made by nanoGPT; copy the file again, or correct data.format");
  }
  if (LooksLikeUint32(data)) {
    ThrowBadData(
        data.path(),
        "seems to contain uint32, because every second uint16 is nearly 0; nanoGPT's files "
        "contain uint16, so write the ids again as uint16, or in another format");
  }
  DescribedTokens read;
  read.layout = {TokenType::kUint16, 0, static_cast<int64_t>(data.bytes()) / width};
  read.header.tokens = read.layout.tokens;
  return read;
}

}  // namespace trainyard::trainer
