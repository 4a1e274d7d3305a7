// The layout of tokens inside a file, and functions that read the headers of files.
//
// These functions never allocate memory in proportion to a value in a header, and they check the
// header against the file sizes.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "trainer/data/mapped_file.h"

namespace trainyard::trainer {

enum class TokenType { kUint8, kUint16, kInt16, kInt32, kUint32, kInt64 };

// Bytes per token.
int64_t BytesOf(TokenType type);

// A run of `tokens` consecutive little-endian tokens that starts at byte `offset`.
struct TokenLayout {
  TokenType type = TokenType::kUint16;
  int64_t offset = 0;
  int64_t tokens = 0;
};

// Properties of the tokens. A field is 0, -1 or empty if the format does not have it.
struct TokenFileHeader {
  int64_t tokens = 0;
  int64_t vocab_size = 0;
  int64_t documents = 0;
  int64_t source_bytes = 0;
  double unigram_entropy = 0;    // Nats per token: loss of a model that knows only frequencies.
  int64_t end_of_document = -1;  // Id of the token between documents.
  std::string xxh64;             // Checksum of the .bin file, 16 hex digits.
  std::string tokenizer;         // Name, if the format itself fixes the tokenizer.
};

struct DescribedTokens {
  TokenLayout layout;
  TokenFileHeader header;
};

// Each of the functions below throws TrainerError: kNoInput if a file is missing or unreadable,
// kBadData if the header is malformed, inconsistent or does not match the size of `data`.

// Reads the header of a file in Trainyard's format. `header_path` is the path of its JSON file.
DescribedTokens ReadTrainyardTokens(const MappedFile& data, const std::string& header_path);

// Reads the index of a data file in Megatron-LM's format. `index_path` is the .idx file of an
// MMapIndexedDataset.
DescribedTokens ReadMegatronTokens(const MappedFile& data, const std::string& index_path);

// Reads the header of a file in llm.c's format: 256 int32, followed by uint16 (GPT-2) or uint32
// (LLaMA 3) tokens.
DescribedTokens ReadLlmcTokens(const MappedFile& data);

// Describes a file in nanoGPT's format, which contains only uint16 tokens.
DescribedTokens ReadNanogptTokens(const MappedFile& data);

// True if the file begins with a magic number of llm.c's token files.
bool BeginsLikeLlmc(const MappedFile& data);

// True if the file begins like a Megatron-LM index.
bool BeginsLikeMegatronIndex(const MappedFile& data);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_
