// The tokenizer that a command names.
#ifndef TRAINYARD_DATA_PREPARE_TOKENIZERS_CHOOSE_TOKENIZER_H_
#define TRAINYARD_DATA_PREPARE_TOKENIZERS_CHOOSE_TOKENIZER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// True for "bpe", "sentencepiece" and "unigram".
bool IsTrainedOnInputs(const std::string& name);

// Returns the tokenizer "byte", or one that LoadTokenizer reads. Errors are those of LoadTokenizer,
// and InvalidArgument for a tokenizer that is trained on the inputs.
absl::StatusOr<std::unique_ptr<Tokenizer>> ChooseTokenizer(const std::string& name,
                                                           const TokenizerOptions& options);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_TOKENIZERS_CHOOSE_TOKENIZER_H_
