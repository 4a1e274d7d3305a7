// The versions of llm.c's token files.
#ifndef TRAINYARD_DATA_TOKENS_LLMC_VARIANT_H_
#define TRAINYARD_DATA_TOKENS_LLMC_VARIANT_H_

#include <cstdint>

#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// The version of the format for one tokenizer.
struct LlmcVariant {
  const char* tokenizer;  // Tokenizer::name
  int64_t vocab_size;
  int32_t magic;
  int32_t version;
  int64_t bytes_per_token;
};

// Returns null if the format does not exist for the tokenizer.
const LlmcVariant* FindLlmcVariant(const Tokenizer& tokenizer);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_LLMC_VARIANT_H_
