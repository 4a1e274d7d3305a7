// Tokens inside a file, and the readers of the headers that say so.
//
// No reader allocates memory in proportion to a number of a header, and each checks the header
// against the sizes of the files.
#ifndef TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_
#define TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_

#include <cstdint>
#include <string>

#include "trainer/data/mapped_file.h"

namespace trainyard::trainer {

enum class TokenType { kUint8, kUint16, kInt16, kInt32, kUint32, kInt64 };

// Bytes of one token.
int64_t BytesOf(TokenType type);

// `tokens` tokens, one after another from byte `offset` on, little-endian.
struct TokenLayout {
  TokenType type = TokenType::kUint16;
  int64_t offset = 0;
  int64_t tokens = 0;
};

// Facts about the tokens; 0, -1 or empty where a format has no such field.
struct TokenFileHeader {
  int64_t tokens = 0;
  int64_t vocab_size = 0;
  int64_t documents = 0;
  int64_t source_bytes = 0;
  double unigram_entropy = 0;    // nats a token: the loss of a model that only knows frequencies
  int64_t end_of_document = -1;  // token id between documents
  std::string xxh64;             // of the .bin file, 16 hex digits
  std::string tokenizer;         // name that the format itself gives
};

struct DescribedTokens {
  TokenLayout layout;
  TokenFileHeader header;
};

// Each function throws TrainerError: kNoInput when a file is not there or cannot be read, kBadData
// when the header is malformed, contradicts itself or does not fit the size of `data`.

// Our own format. header_path: the JSON file.
DescribedTokens ReadTrainyardTokens(const MappedFile& data, const std::string& header_path);

// Megatron-LM's. index_path: the .idx file, as its MMapIndexedDataset has it.
DescribedTokens ReadMegatronTokens(const MappedFile& data, const std::string& index_path);

// llm.c's: a header of 256 int32, then uint16 (GPT-2) or uint32 (LLaMA 3).
DescribedTokens ReadLlmcTokens(const MappedFile& data);

// nanoGPT's: uint16 and nothing else.
DescribedTokens ReadNanogptTokens(const MappedFile& data);

// True when the file begins with a magic number of llm.c's token files.
bool BeginsLikeLlmc(const MappedFile& data);

// True when the file begins like an index of Megatron-LM.
bool BeginsLikeMegatronIndex(const MappedFile& data);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_TOKEN_LAYOUT_H_
