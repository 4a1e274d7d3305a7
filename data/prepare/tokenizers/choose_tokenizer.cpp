#include "data/prepare/tokenizers/choose_tokenizer.h"

#include "absl/status/status.h"
#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/load_tokenizer.h"

namespace trainyard::data {

bool IsTrainedOnInputs(const std::string& name) {
  return name == "bpe" || name == "sentencepiece" || name == "unigram";
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ChooseTokenizer(const std::string& name,
                                                           const TokenizerOptions& options) {
  if (name == "byte") return MakeByteTokenizer();
  if (IsTrainedOnInputs(name)) {
    return absl::InvalidArgumentError("a " + name +
                                      " tokenizer is trained by data prepare; name the path of a "
                                      "tokenizer, gpt2 or byte");
  }
  LoadOptions load;
  load.family = options.family;
  load.document_tokens.end_of_document = options.end_of_document;
  load.special_text = options.special_text == "id" ? SpecialText::kId : SpecialText::kText;
  absl::StatusOr<std::unique_ptr<Tokenizer>> tokenizer = LoadTokenizer(name, load);
  if (!absl::IsNotFound(tokenizer.status())) return tokenizer;
  return absl::NotFoundError(std::string(tokenizer.status().message()) +
                             "; name the path of a tokenizer, gpt2 or byte");
}

}  // namespace trainyard::data
