#include "data/tokenizer/byte_vocabulary.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "data/bpe/byte_alphabet.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

absl::Status TokenError(const std::string& path, const TokenText& token) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": cannot use token \"", ReplaceInvalidUtf8(token.text), "\" with id ", token.id,
      "; each token needs some text and an id of its own below ", kTokensMax));
}

uint32_t Find(const ByteBpe& bpe, std::string_view alphabet_text) {
  const std::optional<std::string> bytes = BytesOfAlphabetText(alphabet_text);
  return bytes ? bpe.vocabulary.Find(*bytes) : kNoToken;
}

}  // namespace

absl::Status AddAlphabetTokens(const std::vector<TokenText>& tokens, const std::string& path,
                               ByteBpe* bpe) {
  // Tokens outside the alphabet come last, so that they hide no other token with equal bytes.
  std::vector<const TokenText*> outside;
  for (const TokenText& token : tokens) {
    const std::optional<std::string> bytes = BytesOfAlphabetText(token.text);
    if (!bytes) {
      outside.push_back(&token);
    } else if (!bpe->vocabulary.Add(token.id, *bytes)) {
      return TokenError(path, token);
    }
  }
  for (const TokenText* token : outside) {
    if (!bpe->vocabulary.Add(token->id, token->text)) return TokenError(path, *token);
  }
  return absl::OkStatus();
}

absl::Status AddAlphabetMerge(std::string_view left, std::string_view right, size_t number,
                              const std::string& path, ByteBpe* bpe) {
  const std::string both = std::string(left) + std::string(right);
  const std::string_view texts[] = {left, right, both};
  uint32_t ids[3];
  for (size_t i = 0; i < 3; ++i) {
    ids[i] = Find(*bpe, texts[i]);
    if (ids[i] != kNoToken) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": merge ", number, " uses \"", ReplaceInvalidUtf8(texts[i]),
                     "\", which is not in the vocabulary; use the files of one tokenizer"));
  }
  if (bpe->merges.Add(ids[0], ids[1], ids[2])) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": has more than ", kMergesMax, " merges, which is not supported"));
}

absl::Status AddMergeLines(std::string_view text, const std::string& path, ByteBpe* bpe) {
  size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("#version") || (line.empty() && text.empty())) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": \"", ReplaceInvalidUtf8(line.substr(0, 100)),
                       "\" is not a merge; expected two tokens with a space between them"));
    }
    if (absl::Status status = AddAlphabetMerge(line.substr(0, space), line.substr(space + 1),
                                               bpe->merges.size() + 1, path, bpe);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAllBytesEncoded(const ByteBpe& bpe, const std::string& path) {
  if (bpe.unknown != kNoToken) return absl::OkStatus();
  for (int byte = 0; byte < 256; ++byte) {
    // UTF-8 contains no other bytes.
    if (byte == 0xC0 || byte == 0xC1 || byte >= 0xF5) continue;
    const char text = static_cast<char>(byte);
    if (bpe.vocabulary.Find(std::string_view(&text, 1)) != kNoToken) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: has no token for byte 0x%02X and no unk_token, so text with this byte would be lost; "
        "train the tokenizer with all 256 bytes in its alphabet or with an unk_token",
        path, byte));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
