#include "data/prepare/choose_tokenizer.h"

#include "data/tokenizer/byte_tokenizer.h"
#include "data/tokenizer/load_tokenizer.h"

namespace trainyard::data {

bool IsTrainedOnInputs(const std::string& name) {
  return name == "bpe" || name == "sentencepiece" || name == "unigram";
}

absl::StatusOr<std::unique_ptr<Tokenizer>> ChooseTokenizer(const std::string& name,
                                                           const TokenizerOptions& options) {
  if (name == "byte") return MakeByteTokenizer();
  LoadOptions load;
  load.family = options.family;
  load.document_tokens.end_of_document = options.end_of_document;
  load.special_text = options.special_text == "id" ? SpecialText::kId : SpecialText::kText;
  return LoadTokenizer(name, load);
}

}  // namespace trainyard::data
