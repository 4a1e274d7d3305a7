// Turns text into token ids and back. Includes no absl header: SentencePiece's header cannot be
// included after one.
#ifndef TRAINYARD_CLI_DATA_TOKENIZER_H_
#define TRAINYARD_CLI_DATA_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::cli {

// Safe to use from several threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text`, which is UTF-8.
  virtual void Encode(std::string_view text, std::vector<uint32_t>* ids) const = 0;
  // Text of the ids; end_of_document adds nothing to it.
  virtual std::string Decode(const std::vector<uint32_t>& ids) const = 0;
  virtual int64_t vocab_size() const = 0;
  // Id that marks the end of a document. Encode does not append it.
  virtual uint32_t end_of_document() const = 0;
  // "byte" or "sentencepiece".
  virtual std::string kind() const = 0;
  // Bytes of the data set's file tokenizer.model; empty for a kind without a trained model.
  virtual const std::string& model() const = 0;
};

// Ids 0 to 255 are bytes; 256 ends a document.
std::unique_ptr<Tokenizer> MakeByteTokenizer();

struct SentencePieceSettings {
  std::string algorithm;   // "bpe" or "unigram"
  int64_t vocab_size = 0;  // at most; a small text gives fewer token ids
};

// Trains a model and returns the bytes of tokenizer.model. Encoding and decoding a text loses
// nothing: white space is kept, and characters outside the vocabulary become bytes. The one
// exception is the character U+2581, which decodes to a space because SentencePiece writes spaces
// that way. The same sentences give the same model. On failure *error is the reason, and the result
// is empty.
std::string TrainSentencePiece(const std::vector<std::string>& sentences,
                               const SentencePieceSettings& settings, std::string* error);

// Loads the bytes of tokenizer.model. Null, with the reason in *error, when they are not a
// SentencePiece model.
std::unique_ptr<Tokenizer> MakeSentencePieceTokenizer(const std::string& model, std::string* error);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_TOKENIZER_H_
