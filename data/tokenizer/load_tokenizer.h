// Finds and reads the files of a tokenizer.
#ifndef TRAINYARD_DATA_TOKENIZER_LOAD_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_LOAD_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/families.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

struct LoadOptions {
  // Name of the family; "" to recognize it. Files without a split rule need it if their number of
  // tokens is unknown.
  std::string family;
  DocumentTokens document_tokens;
  SpecialText special_text = SpecialText::kText;
};

// `source` is "gpt2" for the vocabulary of GPT-2, which is part of the program, or the path of a
// file or directory. Files: tokenizer.json or another .json with a model, .tiktoken, .model, and
// vocab.json with merges.txt (also encoder.json with vocab.bpe), of which either one may be named.
//
// Errors name the file: NotFound, InvalidArgument for damaged files and unknown families,
// Unimplemented for settings that are not supported, DataLoss for unreadable files.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& source,
                                                         const LoadOptions& options);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_LOAD_TOKENIZER_H_
