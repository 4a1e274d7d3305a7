#include "data/tokenizer/added_token_finder.h"

#include <algorithm>
#include <utility>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

unsigned char FirstByte(const AddedToken& token) {
  return static_cast<unsigned char>(token.text.front());
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the begin of the white space that ends at `end`, not before `from`.
size_t SpaceBefore(std::string_view text, size_t from, size_t end) {
  while (end > from) {
    size_t last = end - 1;
    while (last > from && IsContinuation(text[last])) --last;
    if (ClassOf(DecodeUtf8(text.data() + last).code_point) != CharClass::kSpace) break;
    end = last;
  }
  return end;
}

size_t SpaceBehind(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const DecodedChar character = DecodeUtf8(text.data() + begin);
    if (ClassOf(character.code_point) != CharClass::kSpace) break;
    begin += character.length;
  }
  return begin;
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens, SpecialText special_text)
    : special_text_(special_text), tokens_(std::move(tokens)) {
  // Skipped tokens still hide tokens inside them, so they are kept unless all tokens are skipped.
  const bool finds_any = special_text == SpecialText::kId ||
                         std::any_of(tokens_.begin(), tokens_.end(),
                                     [](const AddedToken& token) { return !token.special; });
  if (!finds_any) tokens_.clear();
  std::sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) {
    if (FirstByte(a) != FirstByte(b)) return FirstByte(a) < FirstByte(b);
    return a.text.size() > b.text.size();
  });
  for (size_t byte = 0, at = 0; byte < first_.size(); ++byte) {
    while (at < tokens_.size() && FirstByte(tokens_[at]) < byte) ++at;
    first_[byte] = static_cast<uint32_t>(at);
  }
  if (!tokens_.empty() && FirstByte(tokens_.front()) == FirstByte(tokens_.back())) {
    only_first_byte_ = tokens_.front().text.front();
  }
}

AddedTokenFinder::Match AddedTokenFinder::Find(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size();) {
    if (only_first_byte_) at = text.find(*only_first_byte_, at);
    if (at == std::string_view::npos) break;
    const AddedToken* token = LongestAt(text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t end = at + token->text.size();
    if (token->special && special_text_ == SpecialText::kText) {
      at = end;
      continue;
    }
    return {token->left_strip ? SpaceBefore(text, from, at) : at,
            token->right_strip ? SpaceBehind(text, end) : end, token->id};
  }
  return {};
}

const AddedToken* AddedTokenFinder::LongestAt(std::string_view text, size_t at) const {
  const auto byte = static_cast<unsigned char>(text[at]);
  for (uint32_t i = first_[byte]; i < first_[byte + 1u]; ++i) {
    if (text.substr(at, tokens_[i].text.size()) == tokens_[i].text) return &tokens_[i];
  }
  return nullptr;
}

}  // namespace trainyard::data
