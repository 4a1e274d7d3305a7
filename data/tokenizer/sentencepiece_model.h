// Reads tokenizer.model of SentencePiece. Needs neither SentencePiece nor protobuf.
#ifndef TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_MODEL_H_
#define TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/tokenizer/bpe_definition.h"
#include "data/tokenizer/families.h"

namespace trainyard::data {

// Reads models of type BPE that do not change the text except for spaces. `path` is for messages.
absl::StatusOr<BpeDefinition> ParseSentencePieceModel(const std::string& text,
                                                      const std::string& path,
                                                      const DocumentTokens& tokens);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_MODEL_H_
