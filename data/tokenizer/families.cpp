#include "data/tokenizer/families.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace trainyard::data {
namespace {

// DeepSeek's tokens contain U+FF5C (fullwidth vertical line) and U+2581.
constexpr char kDeepseekBegin[] = "<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>";
constexpr char kDeepseekEnd[] = "<\uFF5Cend\u2581of\u2581sentence\uFF5C>";
constexpr char kDeepseekPad[] = "<\uFF5C\u2581pad\u2581\uFF5C>";

// Names of end tokens in the vocabularies of other families, the most common first.
constexpr const char* kEndTokens[] = {"<|endoftext|>",   "</s>",  "[EOS]",
                                      "<|end_of_text|>", "<eos>", kDeepseekEnd};
constexpr const char* kBeginTokens[] = {"<s>", "[BOS]", "<|begin_of_text|>", "<bos>",
                                        kDeepseekBegin};

std::vector<AddedToken> Numbered(uint32_t first_id, const std::vector<std::string>& texts) {
  std::vector<AddedToken> tokens;
  for (const std::string& text : texts) tokens.push_back({.id = first_id++, .text = text});
  return tokens;
}

std::vector<std::string> Llama3SpecialTexts() {
  std::vector<std::string> texts = {"<|begin_of_text|>", "<|end_of_text|>"};
  const auto reserve = [&texts](int from, int to) {
    for (int i = from; i < to; ++i) {
      texts.push_back(absl::StrCat("<|reserved_special_token_", i, "|>"));
    }
  };
  reserve(0, 4);
  texts.insert(texts.end(), {"<|start_header_id|>", "<|end_header_id|>"});
  reserve(4, 5);
  texts.push_back("<|eot_id|>");
  reserve(5, 251);
  return texts;
}

const Vocabulary& VocabularyOf(const BpeDefinition& definition) {
  if (const auto* bytes = std::get_if<ByteBpe>(&definition.bpe)) return bytes->vocabulary;
  return std::get<CharacterBpe>(definition.bpe).vocabulary;
}

uint32_t IdOf(const BpeDefinition& definition, std::string_view text) {
  for (const AddedToken& token : definition.added_tokens) {
    if (token.text == text) return token.id;
  }
  return VocabularyOf(definition).Find(text);
}

// Returns the names with `first` in front, unless it is "".
template <size_t size>
std::vector<std::string> WithFirst(const std::string& first, const char* const (&names)[size]) {
  std::vector<std::string> all(std::begin(names), std::end(names));
  if (!first.empty()) all.insert(all.begin(), first);
  return all;
}

// Returns the id of a token that was named by the user or by the family, or else the first of
// `defaults` that exists. Returns kNoToken if there is none.
absl::StatusOr<uint32_t> Choose(const BpeDefinition& definition, const std::string& chosen,
                                const char* of_family, std::vector<std::string> defaults,
                                const std::string& path) {
  if (!chosen.empty()) {
    const uint32_t id = IdOf(definition, chosen);
    if (id != kNoToken) return id;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no token \"", chosen, "\"; check the name of the token"));
  }
  if (of_family != nullptr) defaults = {of_family};
  for (const std::string& text : defaults) {
    const uint32_t id = text.empty() ? kNoToken : IdOf(definition, text);
    if (id != kNoToken) return id;
  }
  return kNoToken;
}

}  // namespace

const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"gpt2",
       "GPT-2",
       50256,
       true,
       {SplitRule::kGpt2, false, false},
       false,
       "<|endoftext|>",
       "",
       false},
      {"llama3",
       "LLaMA-3",
       128000,
       true,
       {SplitRule::kLlama3, false, false},
       true,
       "<|end_of_text|>",
       "<|begin_of_text|>",
       true},
      {"qwen3",
       "Qwen2 and Qwen3",
       151643,
       true,
       {SplitRule::kQwen3, true, false},
       false,
       "<|endoftext|>",
       "",
       false},
      {"cl100k",
       "GPT-4",
       100256,
       true,
       {SplitRule::kLlama3, false, false},
       true,
       "<|endoftext|>",
       "",
       false},
      {"deepseek3",
       "DeepSeek-V3",
       127997,
       true,
       {SplitRule::kDeepseek3, false, false},
       false,
       kDeepseekEnd,
       kDeepseekBegin,
       true},
      {"llama2", "LLaMA-2", 32000, false, {}, false, "</s>", "<s>", true},
  };
  return families;
}

const Family* FindFamily(std::string_view name) {
  const auto found = std::find_if(Families().begin(), Families().end(),
                                  [name](const Family& family) { return family.name == name; });
  return found == Families().end() ? nullptr : &*found;
}

const Family* FindFamilyByTokens(const Vocabulary& vocabulary) {
  const Family* found = nullptr;
  uint32_t most_special = 0;
  for (const Family& family : Families()) {
    if (!family.has_bytes) continue;
    uint32_t special = 0;
    for (const AddedToken& token : SpecialTokensOf(family)) {
      if (vocabulary.Find(token.text) != kNoToken) ++special;
    }
    if (vocabulary.count() != family.base_tokens + special) continue;
    if (found != nullptr && special <= most_special) continue;
    found = &family;
    most_special = special;
  }
  return found;
}

std::string ByteFamilyNames() {
  std::string names;
  for (const Family& family : Families()) {
    if (family.has_bytes) absl::StrAppend(&names, names.empty() ? "" : ", ", family.name);
  }
  return names;
}

std::vector<AddedToken> SpecialTokensOf(const Family& family) {
  const std::string_view name = family.name;
  if (name == "llama3") return Numbered(family.base_tokens, Llama3SpecialTexts());
  if (name == "qwen3") {
    return Numbered(family.base_tokens, {"<|endoftext|>", "<|im_start|>", "<|im_end|>"});
  }
  if (name == "cl100k") {
    std::vector<AddedToken> tokens =
        Numbered(100257, {"<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"});
    tokens.push_back({.id = 100276, .text = "<|endofprompt|>"});
    return tokens;
  }
  if (name == "deepseek3") return Numbered(0, {kDeepseekBegin, kDeepseekEnd, kDeepseekPad});
  return Numbered(family.base_tokens, {"<|endoftext|>"});
}

bool HasKnownEndToken(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return std::find(std::begin(kEndTokens), std::end(kEndTokens), text) != std::end(kEndTokens);
  });
}

absl::Status FinishDefinition(const Family* family, const DocumentTokens& tokens,
                              const std::string& path, BpeDefinition* definition) {
  definition->family = family == nullptr ? "bpe" : family->name;
  const auto end = tokens.end_of_document_id
                       ? absl::StatusOr<uint32_t>(*tokens.end_of_document_id)
                       : Choose(*definition, tokens.end_of_document,
                                family == nullptr ? nullptr : family->end_of_document,
                                WithFirst(tokens.config.end_of_document, kEndTokens), path);
  if (!end.ok()) return end.status();
  if (*end == kNoToken) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": has no known token for the end of a document; name it with --end-of-document"));
  }
  definition->end_of_document = *end;
  const auto begin = Choose(*definition, tokens.begin_of_document,
                            family == nullptr ? nullptr : family->begin_of_document,
                            WithFirst(tokens.config.begin_of_document, kBeginTokens), path);
  if (!begin.ok()) return begin.status();
  if (*begin != kNoToken) definition->begin_of_document = *begin;
  if (family != nullptr) definition->begins_documents = family->begins_documents;
  if (tokens.config.begins_documents) {
    definition->begins_documents = *tokens.config.begins_documents;
    if (definition->begins_documents && !definition->begin_of_document) {
      return absl::InvalidArgumentError(
          absl::StrCat(path,
                       ": add_bos_token of tokenizer_config.json is set, but the vocabulary has no "
                       "bos_token; correct the two files"));
    }
  }
  if (!definition->begin_of_document) definition->begins_documents = false;
  definition->vocab_size = VocabularyOf(*definition).id_limit();
  for (const AddedToken& token : definition->added_tokens) {
    definition->vocab_size = std::max(definition->vocab_size, int64_t{token.id} + 1);
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
