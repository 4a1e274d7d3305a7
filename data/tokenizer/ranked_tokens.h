// Reads .tiktoken files and pairs of vocab.json and merges.txt.
#ifndef TRAINYARD_DATA_TOKENIZER_RANKED_TOKENS_H_
#define TRAINYARD_DATA_TOKENIZER_RANKED_TOKENS_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/families.h"

namespace trainyard::data {

// Each of these files lacks the split rule and special tokens, so the family must be known.
// `family` may be null: the number of tokens then decides. `path` is for messages.

// Lines of a token in base64, a space, and its id. Two neighbors merge if their bytes together are
// a token. The rank of a merge is the id of the result.
absl::StatusOr<BpeDefinition> ParseTiktoken(const std::string& text, const std::string& path,
                                            const Family* family, const DocumentTokens& tokens);

struct VocabAndMerges {
  std::string vocab;  // JSON
  std::string vocab_path;
  std::string merges;
  std::string merges_path;
};
absl::StatusOr<BpeDefinition> ParseVocabAndMerges(const VocabAndMerges& files, const Family* family,
                                                  const DocumentTokens& tokens);

// The vocabulary of GPT-2, which is part of the program.
BpeDefinition DefineGpt2();

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_RANKED_TOKENS_H_
