#include "data/tokenizer/ranked_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "data/bpe/byte_alphabet.h"
#include "data/tokenizer/byte_vocabulary.h"
#include "data/tokenizer/gpt2/gpt2_merges.h"
#include "data/unicode/code_point.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"

namespace trainyard::data {
namespace {

absl::StatusOr<const Family*> FamilyOf(const Family* named, const Vocabulary& vocabulary,
                                       const std::string& path) {
  if (named == nullptr) named = FindFamilyByTokens(vocabulary);
  if (named == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", vocabulary.count(),
                     " tokens, which is the number of no known family; name the family (",
                     ByteFamilyNames(), ") or use the model's tokenizer.json"));
  }
  if (named->has_bytes) return named;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": family ", named->name,
                   " has no file of this kind; use the model's tokenizer.json or tokenizer.model"));
}

// Adds the tokens of lines "base64 id".
absl::Status AddTiktokenLines(std::string_view text, const std::string& path,
                              Vocabulary* vocabulary) {
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    std::string bytes;
    uint32_t id = 0;
    const bool is_token =
        space != std::string_view::npos && absl::Base64Unescape({line.data(), space}, &bytes) &&
        absl::SimpleAtoi(absl::string_view(line.data() + space + 1, line.size() - space - 1), &id);
    if (!is_token) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": \"", ReplaceInvalidUtf8(line.substr(0, 100)),
                       "\" is not a token; expected base64, a space and an id"));
    }
    if (vocabulary->Find(bytes) != kNoToken || !vocabulary->Add(id, bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": token or id ", id,
                       " is empty, too large or a duplicate; download the file anew"));
    }
  }
  return absl::OkStatus();
}

// Adds every way to make a token of two others. All ways have the same rank.
absl::Status AddSplits(std::string_view token, uint32_t id, const std::string& path, ByteBpe* bpe) {
  bool is_first = true;
  for (size_t at = 1; at < token.size(); ++at) {
    const uint32_t left = bpe->vocabulary.Find(token.substr(0, at));
    const uint32_t right = bpe->vocabulary.Find(token.substr(at));
    if (left == kNoToken || right == kNoToken) continue;
    const bool added =
        is_first ? bpe->merges.Add(left, right, id) : bpe->merges.AddWithLastRank(left, right, id);
    is_first = false;
    if (!added) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": has more than ", kMergesMax, " tokens, which is not supported"));
    }
  }
  return absl::OkStatus();
}

// The ids of GPT-2: bytes in the order of their characters, then the results of the merges.
ByteBpe Gpt2Bytes() {
  std::vector<std::pair<char32_t, char>> bytes;
  for (size_t byte = 0; byte < 256; ++byte) {
    bytes.emplace_back(CharactersOfBytes()[byte], static_cast<char>(byte));
  }
  std::sort(bytes.begin(), bytes.end());
  ByteBpe bpe;
  uint32_t id = 0;
  for (const auto& [character, byte] : bytes) {
    bpe.vocabulary.Add(id++, std::string_view(&byte, 1));
  }
  return bpe;
}

}  // namespace

absl::StatusOr<BpeDefinition> ParseTiktoken(const std::string& text, const std::string& path,
                                            const Family* family, const DocumentTokens& tokens) {
  ByteBpe bpe;
  TRAINYARD_RETURN_IF_ERROR(AddTiktokenLines(text, path, &bpe.vocabulary));
  TRAINYARD_ASSIGN_OR_RETURN(family, FamilyOf(family, bpe.vocabulary, path));
  TRAINYARD_RETURN_IF_ERROR(CheckAllBytesEncoded(bpe, path));
  for (uint32_t id = 0; id < bpe.vocabulary.id_limit(); ++id) {
    TRAINYARD_RETURN_IF_ERROR(AddSplits(bpe.vocabulary.BytesOf(id), id, path, &bpe));
  }
  bpe.ignore_merges = family->ignore_merges;
  BpeDefinition definition;
  definition.bpe = std::move(bpe);
  definition.byte_splitting = family->splitting;
  definition.added_tokens = SpecialTokensOf(*family);
  TRAINYARD_RETURN_IF_ERROR(FinishDefinition(family, tokens, path, &definition));
  return definition;
}

absl::StatusOr<BpeDefinition> ParseVocabAndMerges(const VocabAndMerges& files, const Family* family,
                                                  const DocumentTokens& tokens) {
  const nlohmann::json vocab = nlohmann::json::parse(files.vocab, nullptr, false);
  if (!vocab.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(files.vocab_path, ": is not a JSON object of tokens and ids"));
  }
  std::vector<TokenText> texts;
  for (const auto& [text, id] : vocab.items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= kTokensMax) {
      return absl::InvalidArgumentError(
          absl::StrCat(files.vocab_path, ": token \"", text, "\" has no id below ", kTokensMax));
    }
    texts.push_back({id.get<uint32_t>(), text});
  }
  ByteBpe bpe;
  TRAINYARD_RETURN_IF_ERROR(AddAlphabetTokens(texts, files.vocab_path, &bpe));
  TRAINYARD_RETURN_IF_ERROR(CheckAllBytesEncoded(bpe, files.vocab_path));
  TRAINYARD_RETURN_IF_ERROR(AddMergeLines(files.merges, files.merges_path, &bpe));
  TRAINYARD_ASSIGN_OR_RETURN(family, FamilyOf(family, bpe.vocabulary, files.vocab_path));
  bpe.ignore_merges = family->ignore_merges;
  BpeDefinition definition;
  definition.byte_splitting = family->splitting;
  for (AddedToken token : SpecialTokensOf(*family)) {
    const uint32_t id = bpe.vocabulary.Find(token.text);
    if (id != kNoToken) token.id = id;
    if (bpe.vocabulary.BytesOf(token.id).empty() || id != kNoToken) {
      definition.added_tokens.push_back(token);
    }
  }
  definition.bpe = std::move(bpe);
  TRAINYARD_RETURN_IF_ERROR(FinishDefinition(family, tokens, files.vocab_path, &definition));
  return definition;
}

BpeDefinition DefineGpt2() {
  ByteBpe bpe = Gpt2Bytes();
  std::string_view text = Gpt2Merges();
  text.remove_prefix(text.find('\n') + 1);  // "#version: 0.2"
  for (uint32_t id = 256; !text.empty(); ++id) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t space = line.find(' ');
    const std::string left = BytesOfAlphabetText(line.substr(0, space)).value();
    const std::string right = BytesOfAlphabetText(line.substr(space + 1)).value();
    bpe.vocabulary.Add(id, left + right);
    bpe.merges.Add(bpe.vocabulary.Find(left), bpe.vocabulary.Find(right), id);
  }
  const Family& family = *FindFamily("gpt2");
  BpeDefinition definition;
  definition.bpe = std::move(bpe);
  definition.byte_splitting = family.splitting;
  definition.added_tokens = SpecialTokensOf(family);
  FinishDefinition(&family, {}, "gpt2", &definition).IgnoreError();
  return definition;
}

}  // namespace trainyard::data
