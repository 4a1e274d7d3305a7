// llm.c's token files begin with 256 little-endian int32: magic number, version, token count, and
// zeros. nanoGPT's files have no header.
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

// Null if the file begins with no known magic number.
const Variant* VariantOf(const MappedFile& data) {
  if (data.bytes() < sizeof(int32_t)) return nullptr;
  for (const Variant& variant : kVariants) {
    if (HeaderNumber(data, 0) == variant.magic) return &variant;
  }
  return nullptr;
}

}  // namespace

bool BeginsLikeLlmc(const MappedFile& data) { return VariantOf(data) != nullptr; }

DescribedTokens ReadLlmcTokens(const MappedFile& data) {
  const Variant* variant = VariantOf(data);
  if (variant == nullptr) {
    ThrowBadData(
        data.path(),
        "does not begin with 20240520 or 20240801: not a token file of llm.c; correct data.path or "
        "data.format");
  }
  if (data.bytes() < static_cast<size_t>(kLlmcHeaderBytes)) {
    ThrowBadData(data.path(), "has " + std::to_string(data.bytes()) +
                                  " bytes, fewer than the header of " +
                                  std::to_string(kLlmcHeaderBytes) + ": cut short; copy it again");
  }
  const int32_t version = HeaderNumber(data, 1), tokens = HeaderNumber(data, 2);
  if (version != variant->version) {
    ThrowBadData(data.path(), "version " + std::to_string(version) +
                                  " of llm.c's token files; for magic " +
                                  std::to_string(variant->magic) + " this program reads version " +
                                  std::to_string(variant->version) + "; make the file again");
  }
  const int64_t rest = static_cast<int64_t>(data.bytes()) - kLlmcHeaderBytes;
  const int64_t width = BytesOf(variant->type);
  if (tokens < 0 || rest != tokens * width) {
    ThrowBadData(data.path(), "has " + std::to_string(rest) +
                                  " bytes after its header, which declares " +
                                  std::to_string(tokens) + " tokens of " + std::to_string(width) +
                                  " bytes: cut short or damaged; copy it again");
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
        "has a header, and nanoGPT's files have none; set data.format to llmc or megatron");
  }
  if (data.bytes() % width != 0) {
    ThrowBadData(data.path(),
                 "has " + std::to_string(data.bytes()) +
                     " bytes, not a whole number of uint16: cut short, or not made by nanoGPT; "
                     "copy it again or correct data.format");
  }
  DescribedTokens read;
  read.layout = {TokenType::kUint16, 0, static_cast<int64_t>(data.bytes()) / width};
  read.header.tokens = read.layout.tokens;
  return read;
}

}  // namespace trainyard::trainer
