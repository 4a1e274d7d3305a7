#include "data/tokenizer/tokenizer_json.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "data/tokenizer/byte_vocabulary.h"
#include "data/tokenizer/json_fields.h"
#include "data/tokenizer/text_rules.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using nlohmann::json;

absl::Status Invalid(const std::string& path, const std::string& cause) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", cause, "; download the file anew or save the tokenizer again"));
}

absl::Status Unsupported(const std::string& path, const std::string& what) {
  return absl::UnimplementedError(
      absl::StrCat(path, ": ", what,
                   " is not supported; tokenize with the model's own tools, or use another "
                   "tokenizer"));
}

absl::Status CheckModel(const json& model, const std::string& path) {
  const std::string type = TextField(model, "type");
  // Files of early versions have no type.
  if (type != "BPE" && !(type.empty() && FieldOf(model, "merges").is_array())) {
    return Unsupported(path, absl::StrCat("a model of type \"", type, "\" (only BPE is)"));
  }
  const json& dropout = FieldOf(model, "dropout");
  if (dropout.is_number() && dropout.get<double>() != 0) return Unsupported(path, "dropout");
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!TextField(model, name).empty()) return Unsupported(path, name);
  }
  if (!FieldOf(model, "vocab").is_object()) return Invalid(path, "has no object model.vocab");
  if (!FieldOf(model, "merges").is_array()) return Invalid(path, "has no list model.merges");
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> IdField(const json& id, const std::string& text, const std::string& path) {
  if (id.is_number_unsigned() && id.get<uint64_t>() < kTokensMax) return id.get<uint32_t>();
  return Invalid(path, absl::StrCat("token \"", text, "\" has no id below ", kTokensMax));
}

absl::StatusOr<std::vector<TokenText>> ParseVocab(const json& model, const std::string& path) {
  std::vector<TokenText> tokens;
  for (const auto& [text, id] : FieldOf(model, "vocab").items()) {
    TRAINYARD_ASSIGN_OR_RETURN(const uint32_t number, IdField(id, text, path));
    tokens.push_back({number, text});
  }
  return tokens;
}

// Calls add(left, right, number) for each merge: "a b" or ["a", "b"].
template <typename Add>
absl::Status ForEachMerge(const json& model, const std::string& path, Add add) {
  size_t number = 0;
  for (const json& merge : FieldOf(model, "merges")) {
    ++number;
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      TRAINYARD_RETURN_IF_ERROR(add(merge[0].get_ref<const std::string&>(),
                                    merge[1].get_ref<const std::string&>(), number));
      continue;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      return Invalid(path, absl::StrCat("merge ", number, " is not a pair of tokens"));
    }
    TRAINYARD_RETURN_IF_ERROR(add(text.substr(0, space), text.substr(space + 1), number));
  }
  return absl::OkStatus();
}

// Sets *id to the id of unk_token if the model has one.
absl::Status ParseUnknown(const json& model, const std::vector<TokenText>& tokens,
                          const std::string& path, uint32_t* id) {
  const std::string text = TextField(model, "unk_token");
  if (text.empty()) return absl::OkStatus();
  for (const TokenText& token : tokens) {
    if (token.text != text) continue;
    *id = token.id;
    return absl::OkStatus();
  }
  return Invalid(path, absl::StrCat("unk_token \"", text, "\" is not in the vocabulary"));
}

absl::StatusOr<ByteBpe> ParseByteBpe(const json& model, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<TokenText> tokens, ParseVocab(model, path));
  ByteBpe bpe;
  bpe.ignore_merges = BoolField(model, "ignore_merges", false);
  bpe.fuse_unknown = BoolField(model, "fuse_unk", false);
  TRAINYARD_RETURN_IF_ERROR(ParseUnknown(model, tokens, path, &bpe.unknown));
  TRAINYARD_RETURN_IF_ERROR(AddAlphabetTokens(tokens, path, &bpe));
  TRAINYARD_RETURN_IF_ERROR(CheckAllBytesEncoded(bpe, path));
  TRAINYARD_RETURN_IF_ERROR(
      ForEachMerge(model, path, [&](std::string_view left, std::string_view right, size_t number) {
        return AddAlphabetMerge(left, right, number, path, &bpe);
      }));
  return bpe;
}

absl::Status AddCharacterMerge(std::string_view left, std::string_view right, size_t number,
                               const std::string& path, CharacterBpe* bpe) {
  const Vocabulary& vocabulary = bpe->vocabulary;
  const uint32_t left_id = vocabulary.Find(left);
  const uint32_t right_id = vocabulary.Find(right);
  const uint32_t result = vocabulary.Find(std::string(left) + std::string(right));
  if (left_id == kNoToken || right_id == kNoToken || result == kNoToken) {
    return Invalid(
        path, absl::StrCat("merge ", number, ", \"", std::string(left), "\" and \"",
                           std::string(right), "\", uses a token that is not in the vocabulary"));
  }
  if (bpe->merges.Add(left_id, right_id, result)) return absl::OkStatus();
  return Unsupported(path, absl::StrCat("more than ", kMergesMax, " merges"));
}

absl::StatusOr<CharacterBpe> ParseCharacterBpe(const json& model, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<TokenText> tokens, ParseVocab(model, path));
  if (BoolField(model, "ignore_merges", false)) {
    return Unsupported(path, "ignore_merges without byte-level pieces");
  }
  CharacterBpe bpe;
  bpe.fuse_unknown = BoolField(model, "fuse_unk", false);
  TRAINYARD_RETURN_IF_ERROR(ParseUnknown(model, tokens, path, &bpe.unknown));
  for (const TokenText& token : tokens) {
    if (!bpe.vocabulary.Add(token.id, token.text)) {
      return Invalid(path, absl::StrCat("token \"", token.text, "\" is empty or shares its id ",
                                        token.id, " with another one"));
    }
  }
  bpe.byte_tokens.fill(kNoToken);
  bool has_all_bytes = BoolField(model, "byte_fallback", false);
  for (unsigned byte = 0; byte < 256 && BoolField(model, "byte_fallback", false); ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    bpe.byte_tokens[byte] = bpe.vocabulary.Find(name);
    has_all_bytes = has_all_bytes && bpe.byte_tokens[byte] != kNoToken;
  }
  if (!has_all_bytes && bpe.unknown == kNoToken) {
    return Unsupported(path, "a vocabulary with neither unk_token nor a token for each byte");
  }
  TRAINYARD_RETURN_IF_ERROR(
      ForEachMerge(model, path, [&](std::string_view left, std::string_view right, size_t number) {
        return AddCharacterMerge(left, right, number, path, &bpe);
      }));
  return bpe;
}

absl::StatusOr<std::vector<AddedToken>> ParseAddedTokens(const json& tokenizer,
                                                         const std::string& path) {
  std::vector<AddedToken> tokens;
  const json& list = FieldOf(tokenizer, "added_tokens");
  if (!list.is_null() && !list.is_array()) return Invalid(path, "added_tokens is not a list");
  for (const json& entry : list) {
    AddedToken token;
    token.text = TextField(entry, "content");
    if (token.text.empty()) return Invalid(path, "an entry of added_tokens has no content");
    TRAINYARD_ASSIGN_OR_RETURN(token.id, IdField(FieldOf(entry, "id"), token.text, path));
    if (BoolField(entry, "single_word", false)) {
      return Unsupported(path, absl::StrCat("single_word of added token \"", token.text, "\""));
    }
    token.special = BoolField(entry, "special", false);
    token.normalized = BoolField(entry, "normalized", !token.special);
    token.left_strip = BoolField(entry, "lstrip", false);
    token.right_strip = BoolField(entry, "rstrip", false);
    tokens.push_back(token);
  }
  return tokens;
}

// Returns the token that the template of the post-processor puts before a text, or "".
std::string FirstOfTemplate(const json& processor) {
  if (TextField(processor, "type") == "Sequence") {
    const json& elements = FieldOf(processor, "processors");
    for (const json& element : elements.is_array() ? elements : json::array()) {
      const std::string first = FirstOfTemplate(element);
      if (!first.empty()) return first;
    }
    return "";
  }
  const json& single = FieldOf(processor, "single");
  if (TextField(processor, "type") != "TemplateProcessing" || !single.is_array()) return "";
  return single.empty() ? "" : TextField(FieldOf(single[0], "SpecialToken"), "id");
}

bool HasToken(const BpeDefinition& definition, std::string_view text, uint32_t id) {
  for (const AddedToken& token : definition.added_tokens) {
    if (token.text == text && (id == kNoToken || token.id == id)) return true;
  }
  return false;
}

// Returns null for a vocabulary of no known model.
const Family* Recognize(const BpeDefinition& definition) {
  if (!std::holds_alternative<ByteBpe>(definition.bpe)) {
    const uint32_t tokens = std::get<CharacterBpe>(definition.bpe).vocabulary.count();
    const Family* family = FindFamily("llama2");
    return tokens == family->base_tokens && HasToken(definition, "</s>", 2) ? family : nullptr;
  }
  for (const Family& family : Families()) {
    const bool equal_rules = family.has_bytes &&
                             family.splitting.rule == definition.byte_splitting.rule &&
                             family.splitting.nfc == definition.byte_splitting.nfc;
    if (!equal_rules) continue;
    for (const AddedToken& token : SpecialTokensOf(family)) {
      if (token.text == family.end_of_document && HasToken(definition, token.text, token.id)) {
        return &family;
      }
    }
  }
  return nullptr;
}

absl::Status CheckPrefixedTokens(const BpeDefinition& definition, const std::string& path) {
  if (std::holds_alternative<ByteBpe>(definition.bpe)) return absl::OkStatus();
  for (const AddedToken& token : definition.added_tokens) {
    // The normalizer would put U+2581 before these tokens too.
    if (!token.normalized || token.special) continue;
    return Unsupported(path, absl::StrCat("\"normalized\" of added token \"", token.text, "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BpeDefinition> ParseTokenizerJson(const std::string& text, const std::string& path,
                                                 const Family* family,
                                                 const DocumentTokens& tokens) {
  const json tokenizer = json::parse(text, nullptr, false);
  if (!tokenizer.is_object()) return Invalid(path, "is not a JSON object");
  const json& model = FieldOf(tokenizer, "model");
  TRAINYARD_RETURN_IF_ERROR(CheckModel(model, path));
  TRAINYARD_ASSIGN_OR_RETURN(const TextRules rules, ParseTextRules(tokenizer, path));
  BpeDefinition definition;
  if (const auto* splitting = std::get_if<ByteSplitting>(&rules)) {
    definition.byte_splitting = *splitting;
    TRAINYARD_ASSIGN_OR_RETURN(definition.bpe, ParseByteBpe(model, path));
  } else {
    definition.character_splitting = std::get<CharacterSplitting>(rules);
    TRAINYARD_ASSIGN_OR_RETURN(definition.bpe, ParseCharacterBpe(model, path));
  }
  TRAINYARD_ASSIGN_OR_RETURN(definition.added_tokens, ParseAddedTokens(tokenizer, path));
  TRAINYARD_RETURN_IF_ERROR(CheckPrefixedTokens(definition, path));
  DocumentTokens chosen = tokens;
  if (family == nullptr) family = Recognize(definition);
  const std::string first = FirstOfTemplate(FieldOf(tokenizer, "post_processor"));
  definition.begins_documents = !first.empty();
  if (family == nullptr && chosen.begin_of_document.empty()) chosen.begin_of_document = first;
  TRAINYARD_RETURN_IF_ERROR(FinishDefinition(family, chosen, path, &definition));
  return definition;
}

}  // namespace trainyard::data
