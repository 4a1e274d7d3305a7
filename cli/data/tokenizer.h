// Converts text to token ids and back. This header includes no absl header, because SentencePiece's
// header cannot be included after one.
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
  // Returns the text of the ids. end_of_document adds no text.
  virtual std::string Decode(const std::vector<uint32_t>& ids) const = 0;
  virtual int64_t vocab_size() const = 0;
  // The id that marks the end of a document. Encode does not append it.
  virtual uint32_t end_of_document() const = 0;
  // "byte" or "sentencepiece".
  virtual std::string kind() const = 0;
  // The contents of the file tokenizer.model of the data set; empty for a tokenizer without a
  // trained model.
  virtual const std::string& model() const = 0;
};

// Returns a tokenizer whose ids 0 to 255 are bytes. Id 256 ends a document.
std::unique_ptr<Tokenizer> MakeByteTokenizer();

struct SentencePieceSettings {
  std::string algorithm;   // "bpe" or "unigram"
  int64_t vocab_size = 0;  // maximum; a small text gives fewer ids
};

// Trains a model and returns the contents of tokenizer.model. Encoding followed by decoding returns
// the same text: white space is kept, and characters outside the vocabulary are encoded as bytes.
// The only exception is the character U+2581. It is decoded as a space, because SentencePiece
// represents spaces by it. The same sentences give the same model. On failure, sets *error to the
// reason and returns an empty text.
std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error);

// Loads a model from the contents of tokenizer.model. If they are not a SentencePiece model,
// returns null and sets *error to the reason.
std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model, std::string* error);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_TOKENIZER_H_
