#include "data/tokenizer/character_cutter.h"

#include <algorithm>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr char32_t kSpaceCharacter = 0x2581;  // kSpaceSymbol

}  // namespace

CharacterCutter::CharacterCutter(const CharacterBpe& bpe) {
  for (uint32_t id = 0; id < bpe.vocabulary.id_limit(); ++id) {
    const bool is_byte =
        std::find(bpe.byte_tokens.begin(), bpe.byte_tokens.end(), id) != bpe.byte_tokens.end();
    if (!is_byte) AddToken(bpe.vocabulary.BytesOf(id));
  }
  // Consecutive unknown characters become one id, so the text between them cannot be cut.
  const bool has_all_bytes =
      std::count(bpe.byte_tokens.begin(), bpe.byte_tokens.end(), kNoToken) == 0;
  if (!has_all_bytes && bpe.fuse_unknown) {
    other_ = kPrecedes | kFollows;
    for (uint8_t& properties : ascii_) properties |= other_;
    for (uint8_t& properties : properties_) properties |= other_;
  }
  Mark(kSpaceCharacter, kSpace);
  ascii_[' '] = properties_[kSpaceCharacter];
}

void CharacterCutter::AddToken(std::string_view token) {
  char32_t before = 0;
  for (size_t at = 0; at < token.size();) {
    const DecodedChar character = DecodeUtf8(token.data() + at);
    if (at > 0) {
      Mark(before, kPrecedes);
      Mark(character.code_point, kFollows);
      if (character.code_point == kSpaceCharacter && before != kSpaceCharacter) {
        cuts_before_space_ = false;
      }
    }
    before = character.code_point;
    at += character.length;
  }
}

void CharacterCutter::Mark(char32_t character, uint8_t property) {
  if (character < ascii_.size()) {
    ascii_[character] |= property;
    return;
  }
  if (character >= properties_.size()) properties_.resize(character + 1, other_);
  properties_[character] |= property;
}

size_t CharacterCutter::Next(std::string_view text, size_t begin, uint32_t* ends,
                             size_t capacity) const {
  size_t count = 0;
  uint8_t before = kPrecedes;
  for (size_t at = begin; at < text.size() && count < capacity;) {
    const auto byte = static_cast<unsigned char>(text[at]);
    size_t length = 1;
    uint8_t properties;
    if (byte < ascii_.size()) {
      properties = ascii_[byte];
    } else {
      const DecodedChar character = DecodeUtf8(text.data() + at);
      length = character.length;
      properties = PropertiesOf(character.code_point);
    }
    if (at > begin && CanCut(before, properties)) {
      ends[count++] = static_cast<uint32_t>(at);
    }
    before = properties;
    at += length;
  }
  if (count < capacity && begin < text.size()) ends[count++] = static_cast<uint32_t>(text.size());
  return count;
}

}  // namespace trainyard::data
