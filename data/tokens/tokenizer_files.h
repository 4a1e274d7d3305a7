// Describes the tokenizer of a data set. trainer/data/README.md describes the format.
#ifndef TRAINYARD_DATA_TOKENS_TOKENIZER_FILES_H_
#define TRAINYARD_DATA_TOKENS_TOKENIZER_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Writes directory/tokenizer.json, and the files that define the tokenizer: tokenizer.model for
// SentencePiece, and a directory tokenizer/ with the original names for others. `special_text` is
// "text" or "id".
absl::Status WriteTokenizer(const Tokenizer& tokenizer, const std::string& special_text,
                            const std::string& directory);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_TOKENIZER_FILES_H_
