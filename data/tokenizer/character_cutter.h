// Cuts text into pieces that a BPE of characters encodes independently.
#ifndef TRAINYARD_DATA_TOKENIZER_CHARACTER_CUTTER_H_
#define TRAINYARD_DATA_TOKENIZER_CHARACTER_CUTTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/bpe/character_piece_model.h"

namespace trainyard::data {

// Such a BPE encodes a text as a whole. The text can still be cut between two characters that are
// neighbors in no merged token, because no merge then crosses the cut. In LLaMA-2's vocabulary
// these are the places before a run of spaces, and the places beside characters that occur in no
// merge, such as line ends and most Chinese characters.
class CharacterCutter {
 public:
  explicit CharacterCutter(const CharacterBpe& bpe);

  // Writes the end offsets of the next pieces of `text`, of which the first one begins at `begin`,
  // and returns their number, at most `capacity`. Returns 0 at the end of the text.
  size_t Next(std::string_view text, size_t begin, uint32_t* ends, size_t capacity) const;

 private:
  // Properties of a character that is not ASCII.
  static constexpr uint8_t kPrecedes = 1;  // a merged token has another character behind it
  static constexpr uint8_t kFollows = 2;   // a merged token has another character before it
  static constexpr uint8_t kBoth = kPrecedes | kFollows;
  static constexpr size_t kAscii = 128;

  void AddToken(std::string_view token);
  void Join(char32_t before, char32_t behind);
  uint8_t& PropertiesOf(char32_t character);
  bool CanCut(char32_t before, char32_t behind) const;
  uint8_t FindProperties(char32_t character) const {
    if (character < kAscii) return ascii_[character];
    return character < properties_.size() ? properties_[character] : other_;
  }

  // joined_[a][b]: a merged token has b behind a. A space represents U+2581.
  std::array<std::array<bool, kAscii>, kAscii> joined_{};
  std::array<uint8_t, kAscii> ascii_{};
  std::vector<uint8_t> properties_;  // by code point
  uint8_t other_ = 0;                // of code points that properties_ does not have
  // True if no merged token has a space behind another character that is not ASCII.
  bool cuts_before_space_ = true;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_CHARACTER_CUTTER_H_
