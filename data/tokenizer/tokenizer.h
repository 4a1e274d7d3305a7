// Converts text to token ids and back. This header includes no absl header, because SentencePiece's
// header fails to compile after one.
#ifndef TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_
#define TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::data {

struct TokenizerFile {
  std::string name;  // without a directory
  std::string contents;
};

// Thread-safe.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the ids of `text`, which must be UTF-8 and shorter than 4 GiB. A document must be
  // encoded as one text, or be cut at positions that SafeCut returns: the ids of other parts can
  // differ from those of the whole.
  virtual void Encode(std::string_view text, std::vector<uint32_t>* ids) const = 0;
  // Same as Encode, for the part of a document that follows a cut.
  virtual void EncodeAfterCut(std::string_view text, std::vector<uint32_t>* ids) const {
    Encode(text, ids);
  }

  // Bytes before and after a cut on which SafeCut depends.
  static constexpr size_t kCutContext = 256;
  // True if a document must be cut only at positions that SafeCut returns. False if any position
  // between two characters will do.
  virtual bool needs_safe_cuts() const { return false; }
  // Returns the first position in [begin, end) at which a document can be cut so that the ids of
  // its parts, one after the other, are those of the whole; npos if there is none. `text` may be a
  // part of the document that includes kCutContext bytes before `begin` and after `end`, unless the
  // document begins or ends earlier. Bytes that are not UTF-8 are allowed.
  virtual size_t SafeCut(std::string_view /*text*/, size_t begin, size_t end) const {
    return begin < end ? begin : std::string_view::npos;
  }
  // True if the text contains a special token such as "<|endoftext|>".
  virtual bool HasSpecialText(std::string_view /*text*/) const { return false; }

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
  // XXH64 of everything that decides the ids of text. The same tokenizer has the same fingerprint
  // in every format of its files.
  virtual uint64_t fingerprint() const = 0;
  // The files that define the tokenizer; none if it is part of the program.
  virtual std::vector<TokenizerFile> files() const { return {}; }
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_TOKENIZER_H_
