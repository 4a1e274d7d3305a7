#include "data/tokenizer/safe_cuts.h"

#include <algorithm>

#include "data/tokenizer/tokenizer.h"
#include "data/unicode/code_point.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

bool IsContinuationByte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

bool IsSpace(char32_t character) { return ClassOf(character) == CharClass::kSpace; }

bool IsAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char byte) { return byte >= 0; });
}

// Returns the character that begins at `begin` and ends before `limit`. The text may be invalid
// UTF-8, because plain text is cut before it is repaired; nullopt if there is no valid character.
std::optional<char32_t> CharacterAt(std::string_view text, size_t begin, size_t limit) {
  size_t end = begin + 1;
  while (end < limit && end < begin + 4 && IsContinuationByte(text[end])) ++end;
  const std::string_view bytes = text.substr(begin, end - begin);
  if (!IsUtf8(bytes)) return std::nullopt;
  return DecodeUtf8(bytes.data()).code_point;
}

std::optional<char32_t> CharacterBefore(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && begin + 4 > at && IsContinuationByte(text[begin])) --begin;
  return CharacterAt(text, begin, at);
}

// Returns true if the added token makes every cut unsafe.
bool PreventsCuts(const AddedToken& token, const BpeDefinition& definition) {
  if (token.text.size() >= Tokenizer::kCutContext) return true;
  const bool has_prefix = definition.byte_splitting.prefix_space ||
                          definition.character_splitting.prefix_space == PrefixSpace::kEverySegment;
  // The text behind the token gets a prefix, even where the token ends with the white space that
  // precedes a cut.
  if (token.right_strip && has_prefix) return true;
  // The text may have another spelling of the token, which NFC changes.
  return token.normalized && definition.byte_splitting.nfc && !IsAscii(token.text);
}

}  // namespace

SafeCuts::SafeCuts(const BpeDefinition& definition) {
  if (const auto* characters = std::get_if<CharacterBpe>(&definition.bpe)) {
    cutter_ = std::make_unique<CharacterCutter>(*characters);
  } else {
    rule_ = definition.byte_splitting.rule;
  }
  for (const AddedToken& token : definition.added_tokens) {
    added_tokens_.push_back(token.text);
    if (PreventsCuts(token, definition)) finds_cuts_ = false;
  }
}

size_t SafeCuts::Find(std::string_view text, size_t begin, size_t end) const {
  if (!finds_cuts_) return std::string_view::npos;
  end = std::min(end, text.size());
  size_t line_end = text.find('\n', begin > 0 ? begin - 1 : 0);
  // A line end at `end` may have its CR in the range.
  while (line_end <= end) {
    const bool has_cr = line_end > 0 && text[line_end - 1] == '\r';
    for (size_t at = has_cr ? line_end - 1 : line_end; at <= line_end + 1; ++at) {
      if (at >= begin && at < end && IsSafe(text, at)) return at;
    }
    line_end = text.find('\n', line_end + 1);
  }
  return std::string_view::npos;
}

bool SafeCuts::IsSafe(std::string_view text, size_t at) const {
  if (at == 0) return false;
  const std::optional<char32_t> before = CharacterBefore(text, at);
  const std::optional<char32_t> after = CharacterAt(text, at, text.size());
  if (!before || !after || IsSpace(*before) == IsSpace(*after)) return false;
  return IsPieceBegin(*before, *after) && !TouchesAddedToken(text, at);
}

bool SafeCuts::IsPieceBegin(char32_t before, char32_t after) const {
  if (!rule_) {
    std::string around;
    AppendUtf8(before, &around);
    const size_t middle = around.size();
    AppendUtf8(after, &around);
    uint32_t first_end = 0;
    cutter_->Next(around, 0, &first_end, 1);
    return first_end == middle;
  }
  if (*rule_ == SplitRule::kGpt2) return after == '\n' || after == '\r';
  return before == '\n' || ClassOf(before) != CharClass::kOther;
}

bool SafeCuts::TouchesAddedToken(std::string_view text, size_t at) const {
  return std::any_of(added_tokens_.begin(), added_tokens_.end(), [&](const std::string& token) {
    const size_t first = at - std::min(at, token.size());
    const std::string_view around = text.substr(first, at + token.size() - first);
    return around.find(token) != std::string_view::npos;
  });
}

}  // namespace trainyard::data
