// Converts text to token ids and back. This header includes no absl header, because SentencePiece's
// header fails to compile after one.
#ifndef TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::data {

// Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text`, which must be UTF-8 and shorter than 4 GiB. A document must be
  // encoded as one text: the ids of its parts can differ from those of the whole.
  virtual void Encode(std::string_view text, std::vector<uint32_t>* ids) const = 0;
  // Returns the text that the ids encode. end_of_document and begin_of_document add no text.
  virtual std::string Decode(const std::vector<uint32_t>& ids) const = 0;
  virtual int64_t vocab_size() const = 0;
  // The id that marks the end of a document. Encode does not append it.
  virtual uint32_t end_of_document() const = 0;
  // The id that marks the beginning of a document. Encode does not append it.
  virtual std::optional<uint32_t> begin_of_document() const { return std::nullopt; }
  // True if models of this tokenizer expect begin_of_document before each document.
  virtual bool begins_documents() const { return false; }
  // "byte", "sentencepiece" or "bpe".
  virtual std::string kind() const = 0;
  // Names the tokenizer more closely than kind: "gpt2" or "llama3", for example.
  virtual std::string name() const { return kind(); }
  // The contents of the file that defines the tokenizer; empty if the tokenizer needs no file, or
  // if several files define it.
  virtual const std::string& model() const = 0;
  // The name of the data set's file that contains model().
  virtual std::string model_file() const { return "tokenizer.model"; }
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_
