#include "data/tokens/llmc_variant.h"

namespace trainyard::data {
namespace {

constexpr LlmcVariant kVariants[] = {{"gpt2", 50257, 20240520, 1, 2},
                                     {"llama3", 128256, 20240801, 7, 4}};

}  // namespace

const LlmcVariant* FindLlmcVariant(const Tokenizer& tokenizer) {
  for (const LlmcVariant& variant : kVariants) {
    if (tokenizer.name() == variant.tokenizer && tokenizer.vocab_size() == variant.vocab_size) {
      return &variant;
    }
  }
  return nullptr;
}

}  // namespace trainyard::data
