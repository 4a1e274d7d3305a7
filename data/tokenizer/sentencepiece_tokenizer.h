// Tokenizes with a model of SentencePiece.
#ifndef TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_

#include <memory>
#include <string>

#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// Loads a model from the contents of tokenizer.model. On failure, returns null and sets *error to
// the reason.
std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model, std::string* error);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TOKENIZER_H_
