// Small tokenizer files for tests.
#ifndef TRAINYARD_TESTS_DATA_TOKENIZER_TOKENIZER_FILES_H_
#define TRAINYARD_TESTS_DATA_TOKENIZER_TOKENIZER_FILES_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/bpe/byte_alphabet.h"
#include "data/tokenizer/load_tokenizer.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {

// Texts of the rules as the models' files write them.
inline constexpr char kLlama3Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+)"
    R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr char kQwen3Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+)"
    R"([\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The three patterns of DeepSeek-V3. CR and LF are characters of the third one, not escapes.
inline constexpr const char* kDeepseekPatterns[] = {
    R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
    "\r\n"
    R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
    "\r\n"
    R"(]*|\s*[)"
    "\r\n"
    R"(]+|\s+(?!\S)|\s+)"};

// Writes bytes in the byte alphabet.
inline std::string InAlphabet(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    AppendUtf8(CharactersOfBytes()[static_cast<unsigned char>(byte)], &text);
  }
  return text;
}

// A byte-level tokenizer.json: ids 0 to 255 are the bytes, then follow the results of the merges
// and <|endoftext|>.
inline nlohmann::json ByteLevelJson(
    const std::vector<std::pair<std::string, std::string>>& merges) {
  nlohmann::json tokenizer;
  nlohmann::json& model = tokenizer["model"];
  model["type"] = "BPE";
  for (int byte = 0; byte < 256; ++byte) {
    model["vocab"][InAlphabet(std::string(1, static_cast<char>(byte)))] = byte;
  }
  int id = 256;
  model["merges"] = nlohmann::json::array();
  for (const auto& [left, right] : merges) {
    model["merges"].push_back(InAlphabet(left) + " " + InAlphabet(right));
    if (!model["vocab"].contains(InAlphabet(left + right))) {
      model["vocab"][InAlphabet(left + right)] = id++;
    }
  }
  tokenizer["added_tokens"] = {{{"id", id},
                                {"content", "<|endoftext|>"},
                                {"single_word", false},
                                {"lstrip", false},
                                {"rstrip", false},
                                {"normalized", false},
                                {"special", true}}};
  tokenizer["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  return tokenizer;
}

// The pre-tokenizer of LLaMA-3 and Qwen3, of one pattern, and of DeepSeek-V3, of three.
inline nlohmann::json SplitRuleJson(const std::vector<std::string>& patterns) {
  nlohmann::json elements = nlohmann::json::array();
  for (const std::string& pattern : patterns) {
    elements.push_back({{"type", "Split"},
                        {"pattern", {{"Regex", pattern}}},
                        {"behavior", "Isolated"},
                        {"invert", false}});
  }
  elements.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", elements}};
}

inline nlohmann::json SplitRuleJson(const char* pattern) {
  return SplitRuleJson(std::vector<std::string>{pattern});
}

inline nlohmann::json DeepseekSplitsJson() {
  return SplitRuleJson({kDeepseekPatterns[0], kDeepseekPatterns[1], kDeepseekPatterns[2]});
}

// A tokenizer.json of characters as LLaMA-2's: <unk>, <s>, </s>, 256 bytes, then `tokens`.
inline nlohmann::json CharacterJson(
    const std::vector<std::string>& tokens,
    const std::vector<std::pair<std::string, std::string>>& merges) {
  nlohmann::json tokenizer;
  nlohmann::json& model = tokenizer["model"];
  model = {{"type", "BPE"}, {"unk_token", "<unk>"}, {"byte_fallback", true}, {"fuse_unk", true}};
  int id = 0;
  tokenizer["added_tokens"] = nlohmann::json::array();
  for (const char* special : {"<unk>", "<s>", "</s>"}) {
    tokenizer["added_tokens"].push_back({{"id", id}, {"content", special}, {"special", true}});
    model["vocab"][special] = id++;
  }
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    model["vocab"][name] = id++;
  }
  for (const std::string& token : tokens) model["vocab"][token] = id++;
  model["merges"] = nlohmann::json::array();
  for (const auto& [left, right] : merges) model["merges"].push_back({left, right});
  tokenizer["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Prepend"}, {"prepend", "\xE2\x96\x81"}},
        {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\xE2\x96\x81"}}}}};
  return tokenizer;
}

// A directory that is removed at the end of the test.
class TokenizerDirectory {
 public:
  TokenizerDirectory() {
    std::string path = testing::TempDir() + "tokenizer-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "cannot create " << path;
    path_ = path;
  }
  ~TokenizerDirectory() { std::filesystem::remove_all(path_); }

  // Returns the path of the new file.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline absl::StatusOr<std::unique_ptr<Tokenizer>> LoadJson(const nlohmann::json& json,
                                                           const LoadOptions& options = {}) {
  const TokenizerDirectory directory;
  return LoadTokenizer(directory.Write("tokenizer.json", json.dump()), options);
}

inline std::vector<uint32_t> Encode(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<uint32_t> ids;
  tokenizer.Encode(text, &ids);
  return ids;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_TOKENIZER_TOKENIZER_FILES_H_
