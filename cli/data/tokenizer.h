// Converts text to token ids and back. This header includes no absl header, because SentencePiece's
// header fails to compile after one.
#ifndef TRAINYARD_CLI_DATA_TOKENIZER_H_
#define TRAINYARD_CLI_DATA_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

// Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text`, which must be UTF-8.
  virtual void Encode(std::string_view text, std::vector<uint32_t>* ids) const = 0;
  // Returns the text that the ids encode. end_of_document adds no text.
  virtual std::string Decode(const std::vector<uint32_t>& ids) const = 0;
  virtual int64_t vocab_size() const = 0;
  // The id that marks the end of a document. Encode does not append it.
  virtual uint32_t end_of_document() const = 0;
  // "byte" or "sentencepiece".
  virtual std::string kind() const = 0;
  // The contents of the data set's file tokenizer.model; empty for a tokenizer that is not trained.
  virtual const std::string& model() const = 0;
};

// Ids 0 to 255 are bytes. Id 256 ends a document.
std::unique_ptr<Tokenizer> MakeByteTokenizer();

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

// Loads a model from the contents of tokenizer.model. On failure, returns null and sets *error to
// the reason.
std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model, std::string* error);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_TOKENIZER_H_
