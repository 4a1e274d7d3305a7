// Trains models of SentencePiece. This header includes no absl header, because SentencePiece's
// header fails to compile after one.
#ifndef TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TRAINING_H_
#define TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TRAINING_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::data {

struct SentencePieceSettings {
  std::string algorithm;   // "bpe" or "unigram"
  int64_t vocab_size = 0;  // upper limit; a short text gives fewer ids
};

// Trains a model and returns the contents of tokenizer.model. The same sentences give the same
// model.
// On failure, returns an empty text and sets *error to the reason.
//
// Decoding returns exactly the encoded text: white space is kept, and characters outside the
// vocabulary are encoded as bytes. The only exception is U+2581, which is decoded as a space,
// because
// SentencePiece represents spaces by it.
std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_SENTENCEPIECE_TRAINING_H_
