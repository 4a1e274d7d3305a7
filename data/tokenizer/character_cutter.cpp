#include "data/tokenizer/character_cutter.h"

#include <algorithm>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr char32_t kSpaceCharacter = 0x2581;  // kSpaceSymbol

// Decodes a character. U+2581 becomes a space.
DecodedChar Decode(const char* text) {
  DecodedChar character = DecodeUtf8(text);
  if (character.code_point == kSpaceCharacter) character.code_point = ' ';
  return character;
}

}  // namespace

CharacterCutter::CharacterCutter(const CharacterBpe& bpe) {
  for (uint32_t id = 0; id < bpe.vocabulary.id_limit(); ++id) {
    const bool is_byte =
        std::find(bpe.byte_tokens.begin(), bpe.byte_tokens.end(), id) != bpe.byte_tokens.end();
    if (!is_byte) AddToken(bpe.vocabulary.BytesOf(id));
  }
  const bool has_all_bytes =
      std::count(bpe.byte_tokens.begin(), bpe.byte_tokens.end(), kNoToken) == 0;
  if (has_all_bytes || !bpe.fuse_unknown) return;
  // Consecutive unknown characters become one id, so the text between them cannot be cut. Only cuts
  // before spaces remain.
  other_ = kBoth;
  ascii_.fill(kBoth);
  std::fill(properties_.begin(), properties_.end(), kBoth);
  for (size_t before = 0; before < kAscii; ++before) {
    for (size_t behind = 0; behind < kAscii; ++behind) {
      if (behind != ' ') joined_[before][behind] = true;
    }
  }
}

void CharacterCutter::AddToken(std::string_view token) {
  char32_t before = 0;
  for (size_t at = 0; at < token.size();) {
    const DecodedChar character = Decode(token.data() + at);
    if (at > 0) Join(before, character.code_point);
    before = character.code_point;
    at += character.length;
  }
}

void CharacterCutter::Join(char32_t before, char32_t behind) {
  PropertiesOf(before) |= kPrecedes;
  PropertiesOf(behind) |= kFollows;
  if (before < kAscii && behind < kAscii) joined_[before][behind] = true;
  if (before >= kAscii && behind == ' ') cuts_before_space_ = false;
}

uint8_t& CharacterCutter::PropertiesOf(char32_t character) {
  if (character < kAscii) return ascii_[character];
  if (character >= properties_.size()) properties_.resize(character + 1);
  return properties_[character];
}

bool CharacterCutter::CanCut(char32_t before, char32_t behind) const {
  if (before < kAscii && behind < kAscii) return !joined_[before][behind];
  if (behind == ' ' && cuts_before_space_) return true;
  return (FindProperties(before) & kPrecedes) == 0 || (FindProperties(behind) & kFollows) == 0;
}

size_t CharacterCutter::Next(std::string_view text, size_t begin, uint32_t* ends,
                             size_t capacity) const {
  if (begin == text.size()) return 0;
  size_t count = 0;
  DecodedChar last = Decode(text.data() + begin);
  for (size_t at = begin + last.length; at < text.size(); at += last.length) {
    const DecodedChar character = Decode(text.data() + at);
    if (CanCut(last.code_point, character.code_point)) {
      ends[count++] = static_cast<uint32_t>(at);
      if (count == capacity) return count;
    }
    last = character;
  }
  ends[count++] = static_cast<uint32_t>(text.size());
  return count;
}

}  // namespace trainyard::data
