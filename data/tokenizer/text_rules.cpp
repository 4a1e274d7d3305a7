#include "data/tokenizer/text_rules.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/bpe/character_piece_model.h"
#include "data/tokenizer/json_fields.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using nlohmann::json;

struct KnownSplits {
  std::vector<std::string_view> patterns;  // of consecutive splits
  SplitRule rule;
};

// The texts by which the files of these models write their rules.
const std::vector<KnownSplits>& AllKnownSplits() {
  static const std::vector<KnownSplits> all = {
      {{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
       SplitRule::kGpt2},
      {{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+)"
        R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
       SplitRule::kLlama3},
      {{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)"
        R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
       SplitRule::kQwen3},
      {{R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
        R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
        "\r\n"
        R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
        "\r\n"
        R"(]*|\s*[)"
        "\r\n"
        R"(]+|\s+(?!\S)|\s+)"},
       SplitRule::kDeepseek3},
  };
  return all;
}

absl::Status UnsupportedRule(const std::string& path, const char* part, const json& rule) {
  // Long rules, such as tables of characters, are cut.
  std::string text = rule.dump(-1, ' ', true);
  if (text.size() > 300) text = text.substr(0, 300) + "...";
  return absl::UnimplementedError(absl::StrCat(
      path, ": ", part, " ", text,
      " is not supported; supported are the rules of GPT-2, LLaMA-2, LLaMA-3, Qwen2, Qwen3 and "
      "DeepSeek-V3. Tokenize with the model's own tools, or use another tokenizer"));
}

// Returns the elements of a rule of type Sequence, the rule itself for other types, and nothing for
// null.
std::vector<json> Elements(const json& rule, const char* list) {
  if (rule.is_null()) return {};
  if (TextField(rule, "type") != "Sequence") return {rule};
  const json& elements = FieldOf(rule, list);
  // A sequence without a list is kept, so that it is rejected as unsupported.
  if (!elements.is_array()) return {rule};
  return {elements.begin(), elements.end()};
}

struct Normalizer {
  bool nfc = false;
  bool prefix = false;          // puts U+2581 before the text
  bool replaces_space = false;  // by U+2581
};

absl::StatusOr<Normalizer> ParseNormalizer(const json& tokenizer, const std::string& path) {
  Normalizer normalizer;
  for (const json& element : Elements(FieldOf(tokenizer, "normalizer"), "normalizers")) {
    const std::string type = TextField(element, "type");
    if (type == "NFC" && !normalizer.replaces_space && !normalizer.prefix) {
      normalizer.nfc = true;
    } else if (type == "Prepend" && TextField(element, "prepend") == kSpaceSymbol &&
               !normalizer.prefix) {
      normalizer.prefix = true;
    } else if (type == "Replace" && TextField(FieldOf(element, "pattern"), "String") == " " &&
               TextField(element, "content") == kSpaceSymbol) {
      normalizer.replaces_space = true;
    } else {
      return UnsupportedRule(path, "normalizer", element);
    }
  }
  return normalizer;
}

// Returns the pattern of a split, or "" for one that is never supported.
std::string PatternOf(const json& split) {
  const bool isolates = TextField(split, "type") == "Split" &&
                        TextField(split, "behavior") == "Isolated" &&
                        !BoolField(split, "invert", false);
  return isolates ? TextField(FieldOf(split, "pattern"), "Regex") : "";
}

// Returns the rule of consecutive splits.
std::optional<SplitRule> RuleOf(const std::vector<json>& splits) {
  std::vector<std::string> patterns;
  for (const json& split : splits) patterns.push_back(PatternOf(split));
  for (const KnownSplits& known : AllKnownSplits()) {
    if (std::equal(patterns.begin(), patterns.end(), known.patterns.begin(),
                   known.patterns.end())) {
      return known.rule;
    }
  }
  return {};
}

// Returns nullopt if the elements are not the rules of a byte-level tokenizer.
std::optional<ByteSplitting> ParseByteLevel(const std::vector<json>& elements) {
  if (elements.empty() || TextField(elements.back(), "type") != "ByteLevel") return {};
  ByteSplitting splitting;
  // The defaults are those of Hugging Face's library.
  splitting.prefix_space = BoolField(elements.back(), "add_prefix_space", true);
  const bool uses_regex = BoolField(elements.back(), "use_regex", true);
  if (uses_regex && elements.size() == 1) return splitting;
  const std::optional<SplitRule> rule =
      RuleOf(std::vector<json>(elements.begin(), elements.end() - 1));
  // With a split before it, the prefix would be added to each piece.
  if (uses_regex || !rule || splitting.prefix_space) return {};
  splitting.rule = *rule;
  return splitting;
}

// Returns nullopt if the elements are not the rules of a tokenizer of characters.
std::optional<CharacterSplitting> ParseMetaspace(const std::vector<json>& elements) {
  const bool is_metaspace = elements.size() == 1 && TextField(elements[0], "type") == "Metaspace" &&
                            TextField(elements[0], "replacement") == kSpaceSymbol &&
                            !BoolField(elements[0], "split", true);
  if (!is_metaspace) return {};
  const std::string scheme = TextField(elements[0], "prepend_scheme");
  if (scheme == "never") return CharacterSplitting{PrefixSpace::kNever, true};
  if (scheme == "first") return CharacterSplitting{PrefixSpace::kFirstSegment, true};
  if (scheme == "always") return CharacterSplitting{PrefixSpace::kEverySegment, true};
  return {};
}

}  // namespace

absl::StatusOr<TextRules> ParseTextRules(const json& tokenizer, const std::string& path) {
  TRAINYARD_ASSIGN_OR_RETURN(const Normalizer normalizer, ParseNormalizer(tokenizer, path));
  const json& pre_tokenizer = FieldOf(tokenizer, "pre_tokenizer");
  const std::vector<json> elements = Elements(pre_tokenizer, "pretokenizers");
  const bool replaces = normalizer.replaces_space || normalizer.prefix;
  if (auto splitting = ParseByteLevel(elements); splitting && !replaces) {
    splitting->nfc = normalizer.nfc;
    return TextRules(*splitting);
  }
  if (normalizer.nfc) return UnsupportedRule(path, "pre-tokenizer after NFC", pre_tokenizer);
  if (elements.empty() && normalizer.replaces_space) {
    return TextRules(CharacterSplitting{
        normalizer.prefix ? PrefixSpace::kEverySegment : PrefixSpace::kNever, false});
  }
  if (const auto splitting = ParseMetaspace(elements); splitting && !replaces) {
    return TextRules(*splitting);
  }
  return UnsupportedRule(path, "pre-tokenizer", pre_tokenizer);
}

}  // namespace trainyard::data
