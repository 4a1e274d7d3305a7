// Converts text to token ids and back. Includes no absl header, because SentencePiece's header
// cannot be included after one.
#ifndef TRAINYARD_CLI_DATA_TOKENIZER_H_
#define TRAINYARD_CLI_DATA_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

// May be used by several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text`, which must be UTF-8.
  virtual void Encode(std::string_view text, std::vector<uint32_t>* ids) const = 0;
  // Text of the ids; end_of_document adds nothing to it.
  virtual std::string Decode(const std::vector<uint32_t>& ids) const = 0;
  virtual int64_t vocab_size() const = 0;
  // Id that marks the end of a document. Encode does not append it.
  virtual uint32_t end_of_document() const = 0;
  // "byte" or "sentencepiece".
  virtual std::string kind() const = 0;
  // Contents of the data set's file tokenizer.model; empty for a kind without a trained model.
  virtual const std::string& model() const = 0;
};

// Ids 0 to 255 are bytes; 256 ends a document.
std::unique_ptr<Tokenizer> MakeByteTokenizer();

struct SentencePieceSettings {
  std::string algorithm;   // "bpe" or "unigram"
  int64_t vocab_size = 0;  // maximum; a small text results in fewer token ids
};

// Trains a model and returns the contents of tokenizer.model. Encoding and decoding a text is
// lossless: white space is kept, and characters outside the vocabulary become bytes. The only
// exception is the character U+2581, which decodes to a space because SentencePiece represents
// spaces that way. The same sentences result in the same model. On failure *error is the reason,
// and the result is empty.
std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error);

// Loads the contents of tokenizer.model. Null, with the reason in *error, if they are not a
// SentencePiece model.
std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model, std::string* error);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_TOKENIZER_H_
