// The tokenizers of well-known models: settings that their files lack or state in several ways.
#ifndef TRAINYARD_DATA_TOKENIZER_FAMILIES_H_
#define TRAINYARD_DATA_TOKENIZER_FAMILIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "data/tokenizer/bpe_definition.h"

namespace trainyard::data {

struct Family {
  const char* name;
  const char* model;     // for messages
  uint32_t base_tokens;  // without special tokens
  bool has_bytes;        // false: symbols are characters
  ByteSplitting splitting;
  bool ignore_merges;
  const char* end_of_document;
  const char* begin_of_document;  // "" if there is none
  bool begins_documents;
};

const std::vector<Family>& Families();

// Returns null if there is no such family.
const Family* FindFamily(std::string_view name);

// Returns the byte-level family with this number of tokens, or null. The vocabulary may contain
// special tokens of the family. If several families fit, returns the one with most of them.
const Family* FindFamilyByTokens(const Vocabulary& vocabulary);

// "gpt2, llama3, ...": the byte-level families.
std::string ByteFamilyNames();

// The special tokens of a byte-level family, for files that contain none.
std::vector<AddedToken> SpecialTokensOf(const Family& family);

// True if one of the tokens is known to end documents.
bool HasKnownEndToken(const std::vector<std::string>& texts);

// Settings of tokenizer_config.json. "" and nullopt: not set.
struct ConfigTokens {
  std::string end_of_document;           // used only without a family: in chats it ends a turn
  std::string begin_of_document;         // used only without a family
  std::optional<bool> begins_documents;  // takes precedence over the family
};

// Settings of the user, which take precedence over those of the family and the file.
struct DocumentTokens {
  std::string end_of_document;    // text of the token; "" for the default
  std::string begin_of_document;  // text of the token; "" for the default
  // Takes precedence over the text. Data sets name the token by its id.
  std::optional<uint32_t> end_of_document_id = std::nullopt;
  ConfigTokens config = {};
};

// Sets family, end_of_document, begin_of_document and begins_documents of a definition whose
// vocabulary and added tokens are complete, and vocab_size. `family` may be null. `path` is for
// messages. Returns InvalidArgument if a token that was named, or that ends documents, is missing.
absl::Status FinishDefinition(const Family* family, const DocumentTokens& tokens,
                              const std::string& path, BpeDefinition* definition);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_FAMILIES_H_
