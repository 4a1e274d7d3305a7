// Reads tokenizer.json of Hugging Face's tokenizers.
#ifndef TRAINYARD_DATA_TOKENIZER_TOKENIZER_JSON_H_
#define TRAINYARD_DATA_TOKENIZER_TOKENIZER_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/families.h"

namespace trainyard::data {

// Reads BPE tokenizers whose text rules are those of GPT-2, LLaMA-2, LLaMA-3, Qwen2 or Qwen3. Fails
// for every setting that changes ids and is not implemented. Ignores truncation, padding and the
// decoder. `path` is for messages. `family` may be null: the rules and tokens then decide.
absl::StatusOr<BpeDefinition> ParseTokenizerJson(const std::string& text, const std::string& path,
                                                 const Family* family,
                                                 const DocumentTokens& tokens);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TOKENIZER_JSON_H_
