#include "data/tokenizer/load_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "data/tokenizer/bpe_tokenizer.h"
#include "data/tokenizer/ranked_tokens.h"
#include "data/tokenizer/sentencepiece_model.h"
#include "data/tokenizer/tokenizer_config.h"
#include "data/tokenizer/tokenizer_json.h"
#include "data/tokenizer/tokenizer_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr char kGpt2[] = "gpt2";
constexpr char kConfig[] = "tokenizer_config.json";

struct FilePair {
  const char* vocab;
  const char* merges;
};
constexpr FilePair kPairs[] = {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}};

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Returns the names of the files in a directory that end in `extension`, sorted.
std::vector<std::string> FilesEndingIn(const fs::path& directory, std::string_view extension) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(extension)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the file that defines the tokenizer of a directory. tokenizer.json is preferred, because
// it states the most.
absl::StatusOr<fs::path> FindIn(const fs::path& directory) {
  if (Exists(directory / "tokenizer.json")) return directory / "tokenizer.json";
  if (Exists(directory / "tokenizer.model")) return directory / "tokenizer.model";
  const std::vector<std::string> tiktoken = FilesEndingIn(directory, ".tiktoken");
  if (tiktoken.size() == 1) return directory / tiktoken.front();
  for (const FilePair& pair : kPairs) {
    if (Exists(directory / pair.vocab) && Exists(directory / pair.merges)) {
      return directory / pair.vocab;
    }
  }
  const char* cause =
      tiktoken.empty() ? "contains neither tokenizer.json, tokenizer.model, a .tiktoken file nor "
                         "vocab.json with merges.txt; check the path"
                       : "contains several .tiktoken files; name one of them";
  return absl::NotFoundError(absl::StrCat(directory.string(), ": ", cause));
}

absl::StatusOr<BpeDefinition> ReadPair(const fs::path& vocab, const fs::path& merges,
                                       const Family* family, const DocumentTokens& tokens) {
  VocabAndMerges files{"", vocab.string(), "", merges.string()};
  TRAINYARD_ASSIGN_OR_RETURN(files.vocab, ReadTokenizerFile(files.vocab_path));
  TRAINYARD_ASSIGN_OR_RETURN(files.merges, ReadTokenizerFile(files.merges_path));
  TRAINYARD_ASSIGN_OR_RETURN(BpeDefinition definition, ParseVocabAndMerges(files, family, tokens));
  definition.files = {{vocab.filename().string(), std::move(files.vocab)},
                      {merges.filename().string(), std::move(files.merges)}};
  return definition;
}

absl::StatusOr<BpeDefinition> ParseFile(const std::string& text, const fs::path& path,
                                        const Family* family, const DocumentTokens& tokens) {
  const std::string name = path.filename().string();
  if (name.ends_with(".json")) return ParseTokenizerJson(text, path.string(), family, tokens);
  if (name.ends_with(".tiktoken")) return ParseTiktoken(text, path.string(), family, tokens);
  if (name.ends_with(".model")) {
    // LLaMA-3 is distributed with a tokenizer.model in the format of tiktoken: a line per token.
    const bool is_text = text.find('\0') == std::string::npos && text.starts_with("IQ==");
    if (is_text) return ParseTiktoken(text, path.string(), family, tokens);
    return ParseSentencePieceModel(text, path.string(), tokens);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path.string(),
                   ": the kind of this file is unknown; name a directory, tokenizer.json, "
                   "tokenizer.model, a .tiktoken file, vocab.json or encoder.json"));
}

// Returns the file's name in a directory that FindIn accepts.
std::string CopyName(const std::string& name) {
  if (name.ends_with(".json")) return "tokenizer.json";
  if (name.ends_with(".model")) return "tokenizer.model";
  return name;
}

absl::StatusOr<BpeDefinition> ReadDefinition(const fs::path& path, const Family* family,
                                             const DocumentTokens& tokens) {
  const std::string name = path.filename().string();
  for (const FilePair& pair : kPairs) {
    if (name != pair.vocab && name != pair.merges) continue;
    const fs::path directory = path.parent_path();
    return ReadPair(directory / pair.vocab, directory / pair.merges, family, tokens);
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::string text, ReadTokenizerFile(path.string()));
  // Hugging Face's library reads the two files together.
  const fs::path config = path.parent_path() / kConfig;
  const bool has_config = name == "tokenizer.json" && Exists(config);
  DocumentTokens chosen = tokens;
  std::string config_text;
  if (has_config) {
    TRAINYARD_ASSIGN_OR_RETURN(config_text, ReadTokenizerFile(config.string()));
    TRAINYARD_ASSIGN_OR_RETURN(chosen.config, ParseTokenizerConfig(config_text, config.string()));
  }
  TRAINYARD_ASSIGN_OR_RETURN(BpeDefinition definition, ParseFile(text, path, family, chosen));
  definition.files = {{CopyName(name), std::move(text)}};
  if (has_config) definition.files.push_back({kConfig, std::move(config_text)});
  return definition;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& source,
                                                         const LoadOptions& options) {
  const Family* family = nullptr;
  if (!options.family.empty()) {
    family = FindFamily(options.family);
    if (family == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("family \"", options.family, "\" is unknown; use ", ByteFamilyNames()));
    }
  }
  if (source == kGpt2) return MakeBpeTokenizer(DefineGpt2(), options.special_text);
  fs::path path = source;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    TRAINYARD_ASSIGN_OR_RETURN(path, FindIn(path));
  }
  TRAINYARD_ASSIGN_OR_RETURN(BpeDefinition definition,
                             ReadDefinition(path, family, options.document_tokens));
  return MakeBpeTokenizer(std::move(definition), options.special_text);
}

}  // namespace trainyard::data
