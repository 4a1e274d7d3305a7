// A BPE tokenizer as read from its files.
#ifndef TRAINYARD_DATA_TOKENIZER_BPE_DEFINITION_H_
#define TRAINYARD_DATA_TOKENIZER_BPE_DEFINITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/bpe/byte_piece_model.h"
#include "data/bpe/character_piece_model.h"
#include "data/split/split_rule.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

// A token that is found in the text before the text is cut into pieces.
struct AddedToken {
  uint32_t id = 0;
  std::string text;
  bool special = true;
  // True: the token is searched after the text is normalized; false: before.
  bool normalized = false;
  // True: white space before or behind the token belongs to it.
  bool left_strip = false;
  bool right_strip = false;
};

// The splitting of text for symbols that are bytes.
struct ByteSplitting {
  SplitRule rule = SplitRule::kGpt2;
  // True: text is converted to NFC first.
  bool nfc = false;
  // True: a space is put before text that does not begin with one.
  bool prefix_space = false;
};

// Segments that get a space in front. A segment is the text between two added tokens.
enum class PrefixSpace { kNever, kFirstSegment, kEverySegment };

// The splitting of text for symbols that are characters.
struct CharacterSplitting {
  PrefixSpace prefix_space = PrefixSpace::kNever;
  // True: text that begins with a space gets no other one. Decoding then loses this space.
  bool spares_spaces = false;
};

struct BpeDefinition {
  // "gpt2", "llama2", "llama3", "qwen3", "cl100k", "deepseek3", or "bpe" for any other vocabulary.
  std::string family;
  std::variant<ByteBpe, CharacterBpe> bpe;
  ByteSplitting byte_splitting;            // if bpe is a ByteBpe
  CharacterSplitting character_splitting;  // if bpe is a CharacterBpe
  std::vector<AddedToken> added_tokens;
  uint32_t end_of_document = 0;
  std::optional<uint32_t> begin_of_document;
  bool begins_documents = false;
  // The largest id plus one, including added tokens.
  int64_t vocab_size = 0;
  // The files that define the tokenizer.
  std::vector<TokenizerFile> files;
};

// The treatment of special tokens, such as "<|endoftext|>", that occur in the text of documents.
enum class SpecialText {
  kText,  // encoded like other text
  kId,    // replaced by the id of the special token
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_BPE_DEFINITION_H_
