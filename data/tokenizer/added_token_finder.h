// Finds added tokens in text, as Hugging Face's tokenizers do.
#ifndef TRAINYARD_DATA_TOKENIZER_ADDED_TOKEN_FINDER_H_
#define TRAINYARD_DATA_TOKENIZER_ADDED_TOKEN_FINDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/tokenizer/bpe_definition.h"

namespace trainyard::data {

class AddedTokenFinder {
 public:
  struct Match {
    size_t begin = 0;
    size_t end = 0;
    uint32_t id = kNoToken;  // kNoToken if there is no match
  };

  // With SpecialText::kText, special tokens are found and skipped.
  AddedTokenFinder(std::vector<AddedToken> tokens, SpecialText special_text);

  // True if Find never finds a token.
  bool empty() const { return tokens_.empty(); }

  // Returns the first match at or behind `from`, the longest one of those at the same place.
  // `from` must be 0 or the end of the match before.
  Match Find(std::string_view text, size_t from) const;

 private:
  const AddedToken* LongestAt(std::string_view text, size_t at) const;

  const SpecialText special_text_;
  // Sorted by first byte, the longest first.
  std::vector<AddedToken> tokens_;
  std::array<uint32_t, 257> first_;      // by first byte: the index of its first token in tokens_
  std::optional<char> only_first_byte_;  // set if all tokens begin with the same byte
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_ADDED_TOKEN_FINDER_H_
