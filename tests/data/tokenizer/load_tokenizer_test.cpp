// Finds files of tokenizers, and reads the forms other than tokenizer.json of small vocabularies.
#include "data/tokenizer/load_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "data/tokenizer/tokenizer_text.h"
#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::string& source, const LoadOptions& options = {}) {
  return std::string(LoadTokenizer(source, options).status().message());
}

// Lines of all bytes and of the given tokens.
std::string TiktokenText(const std::vector<std::string>& tokens) {
  std::string text;
  int id = 0;
  const auto add = [&](const std::string& token) {
    absl::StrAppend(&text, absl::Base64Escape(token), " ", id++, "\n");
  };
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
  for (const std::string& token : tokens) add(token);
  return text;
}

TEST(LoadTokenizerTest, NamesMissingFilesAndWhatIsExpected) {
  const TokenizerDirectory directory;
  EXPECT_THAT(ErrorOf(directory.path() + "/none.json"),
              AllOf(HasSubstr("/none.json: cannot open: No such file")));
  EXPECT_EQ(LoadTokenizer("none.json", {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ErrorOf(directory.path()), HasSubstr("contains neither tokenizer.json"));
  EXPECT_THAT(ErrorOf(directory.Write("tokens.xml", "<a/>")),
              HasSubstr("the kind of this file is unknown; name a directory, tokenizer.json"));
  LoadOptions options;
  options.family = "gpt9";
  EXPECT_THAT(ErrorOf("gpt2", options), HasSubstr("\"gpt9\" is unknown; use gpt2, llama3, qwen3"));
}

TEST(LoadTokenizerTest, RejectsFilesThatAreTooLargeOrNotRegular) {
  const TokenizerDirectory directory;
  const std::string path = directory.Write("tokenizer.json", "");
  std::filesystem::resize_file(path, kTokenizerFileBytesMax + 1);
  EXPECT_THAT(ErrorOf(path), HasSubstr("a tokenizer file has at most"));
  const std::string fifo = directory.path() + "/fifo.json";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(fifo), HasSubstr("is not a regular file"));
}

TEST(LoadTokenizerTest, PrefersTokenizerJsonInADirectory) {
  const TokenizerDirectory directory;
  directory.Write("tokenizer.json", ByteLevelJson({{"a", "b"}}).dump());
  directory.Write("tokenizer.model", "damaged");
  const auto tokenizer = LoadTokenizer(directory.path(), {});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "ab"), ElementsAre(256));
}

// A vocabulary of no known family with the tokens <end> and <begin>.
nlohmann::json ChatTokenizer() {
  nlohmann::json tokenizer = ByteLevelJson({{"a", "b"}});
  nlohmann::json& added = tokenizer["added_tokens"];
  for (const char* text : {"<end>", "<begin>"}) {
    added.push_back(added[0]);
    added.back()["content"] = text;
    added.back()["id"] = 256 + added.size();
  }
  return tokenizer;
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadWithConfig(const nlohmann::json& tokenizer,
                                                          const std::string& config,
                                                          const LoadOptions& options = {}) {
  const TokenizerDirectory directory;
  directory.Write("tokenizer_config.json", config);
  return LoadTokenizer(directory.Write("tokenizer.json", tokenizer.dump()), options);
}

TEST(LoadTokenizerTest, ReadsTokenizerConfigBesideTokenizerJson) {
  const auto plain = LoadJson(ChatTokenizer());
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ((*plain)->end_of_document(), 257u);
  EXPECT_EQ((*plain)->begin_of_document(), std::nullopt);
  const auto tokenizer = LoadWithConfig(
      ChatTokenizer(),
      R"({"eos_token": "<end>", "bos_token": {"content": "<begin>"}, "add_bos_token": true})");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->end_of_document(), 258u);
  EXPECT_EQ((*tokenizer)->begin_of_document(), 259u);
  EXPECT_TRUE((*tokenizer)->begins_documents());
  ASSERT_EQ((*tokenizer)->files().size(), 2u);
  EXPECT_EQ((*tokenizer)->files()[1].name, "tokenizer_config.json");
  EXPECT_EQ((*tokenizer)->fingerprint(), (*plain)->fingerprint());
  const auto without = LoadWithConfig(
      ChatTokenizer(), R"({"bos_token": "<begin>", "add_bos_token": false, "eos_token": null})");
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ((*without)->end_of_document(), 257u);
  EXPECT_FALSE((*without)->begins_documents());
}

TEST(LoadTokenizerTest, TheUserTakesPrecedenceOverTokenizerConfig) {
  LoadOptions options;
  options.document_tokens.end_of_document = "<begin>";
  const auto tokenizer = LoadWithConfig(ChatTokenizer(), R"({"eos_token": "<end>"})", options);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->end_of_document(), 259u);
  EXPECT_FALSE((*tokenizer)->begins_documents());
}

TEST(LoadTokenizerTest, RefusesADamagedTokenizerConfig) {
  EXPECT_THAT(std::string(LoadWithConfig(ChatTokenizer(), "[]").status().message()),
              HasSubstr("tokenizer_config.json: is not a JSON object; copy the file again"));
  EXPECT_THAT(std::string(LoadWithConfig(ByteLevelJson({{"a", "b"}}), R"({"add_bos_token": true})")
                              .status()
                              .message()),
              HasSubstr("the vocabulary has no bos_token; correct the two files"));
}

TEST(LoadTokenizerTest, ReadsTiktokenWithANamedFamily) {
  const TokenizerDirectory directory;
  const std::string path = directory.Write("small.tiktoken", TiktokenText({"bc", "ab", "abc"}));
  EXPECT_THAT(ErrorOf(path), HasSubstr("has 259 tokens, which is the number of no known family"));
  EXPECT_THAT(ErrorOf(directory.path()),
              HasSubstr("name the family (gpt2, llama3, qwen3, cl100k, deepseek3)"));
  LoadOptions options;
  options.family = "gpt2";
  const auto tokenizer = LoadTokenizer(directory.path(), options);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  // "abc" is a + bc and ab + c. The pair bc has the lowest rank.
  EXPECT_THAT(Encode(**tokenizer, "abc ab 12"), ElementsAre(258, ' ', 257, ' ', '1', '2'));
  EXPECT_EQ((*tokenizer)->end_of_document(), 50256u);
  ASSERT_EQ((*tokenizer)->files().size(), 1u);
  EXPECT_EQ((*tokenizer)->files()[0].name, "small.tiktoken");
  options.family = "llama2";
  EXPECT_THAT(ErrorOf(path, options), HasSubstr("family llama2 has no file of this kind"));
}

// Meta's tokenizer.model of LLaMA-3 is a .tiktoken file. Its first token is "!".
TEST(LoadTokenizerTest, ReadsTiktokenNamedModel) {
  const TokenizerDirectory directory;
  std::string text = "IQ== 256\n" + TiktokenText({});
  const size_t duplicate = text.find("IQ== 33\n");
  ASSERT_NE(duplicate, std::string::npos);
  text.erase(duplicate, 8);
  LoadOptions options;
  options.family = "llama3";
  const auto tokenizer = LoadTokenizer(directory.Write("tokenizer.model", text), options);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "!a"), ElementsAre(256, 'a'));
  EXPECT_EQ((*tokenizer)->begin_of_document(), 128000u);
  EXPECT_EQ((*tokenizer)->end_of_document(), 128001u);
  EXPECT_EQ((*tokenizer)->vocab_size(), 128256);
  EXPECT_TRUE((*tokenizer)->begins_documents());
}

TEST(LoadTokenizerTest, SpecialTokensOfLlama3HaveTheirIds) {
  const TokenizerDirectory directory;
  LoadOptions options;
  options.family = "llama3";
  options.special_text = SpecialText::kId;
  const auto tokenizer = LoadTokenizer(directory.Write("a.tiktoken", TiktokenText({})), options);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer,
                     "<|reserved_special_token_3|><|start_header_id|><|eot_id|>"
                     "<|reserved_special_token_250|>"),
              ElementsAre(128005, 128006, 128009, 128255));
}

// 127,997 tokens besides the special ones, which have the ids 0 to 2 as in DeepSeek-V3's
// vocabulary.
nlohmann::json DeepseekVocab() {
  const nlohmann::json bytes = ByteLevelJson({})["model"]["vocab"];
  nlohmann::json vocab = {{"<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>", 0},
                          {"<\uFF5Cend\u2581of\u2581sentence\uFF5C>", 1},
                          {"<\uFF5C\u2581pad\u2581\uFF5C>", 2}};
  int id = 3;
  for (const auto& [text, ignored] : bytes.items()) vocab[text] = id++;
  while (id < 128000) {
    vocab["token" + std::to_string(id)] = id;
    ++id;
  }
  return vocab;
}

// LLaMA-3 has as many tokens without special ones.
TEST(LoadTokenizerTest, RecognizesDeepseekByItsSpecialTokens) {
  const TokenizerDirectory directory;
  directory.Write("merges.txt", "t o\n");
  nlohmann::json vocab = DeepseekVocab();
  vocab.erase("token500");
  vocab["to"] = 500;
  const auto tokenizer = LoadTokenizer(directory.Write("vocab.json", vocab.dump()), {});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->name(), "deepseek3");
  EXPECT_EQ((*tokenizer)->begin_of_document(), 0u);
  EXPECT_EQ((*tokenizer)->end_of_document(), 1u);
  EXPECT_TRUE((*tokenizer)->begins_documents());
  EXPECT_EQ((*tokenizer)->vocab_size(), 128000);
  EXPECT_THAT(Encode(**tokenizer, "to"), ElementsAre(500));
}

TEST(LoadTokenizerTest, RejectsDamagedTiktoken) {
  const TokenizerDirectory directory;
  LoadOptions options;
  options.family = "gpt2";
  const auto error = [&](const std::string& text) {
    return ErrorOf(directory.Write("a.tiktoken", text), options);
  };
  EXPECT_THAT(error("YQ== 0\n???? 1\n"), HasSubstr("a.tiktoken:2: \"???? 1\" is not a token"));
  EXPECT_THAT(error("YQ== 0\nYg==\n"), HasSubstr("a.tiktoken:2: \"Yg==\" is not a token"));
  EXPECT_THAT(error("YQ== 0\nYQ== 1\n"), HasSubstr("a.tiktoken:2: token or id 1 is empty"));
  EXPECT_THAT(error("YQ== 0\nYg== 0\n"), HasSubstr("duplicate"));
  EXPECT_THAT(error("YQ== 9999999\n"), HasSubstr("too large"));
  EXPECT_THAT(error("YQ== -1\n"), HasSubstr("is not a token"));
  EXPECT_THAT(error("YQ== 0\n"), HasSubstr("has no token for byte 0x00"));
}

TEST(LoadTokenizerTest, ReadsVocabAndMerges) {
  const TokenizerDirectory directory;
  const nlohmann::json json = ByteLevelJson({{"a", "b"}, {" ", "ab"}});
  const std::string vocab = directory.Write("vocab.json", json["model"]["vocab"].dump());
  const std::string merges =
      directory.Write("merges.txt", "#version: 0.2\r\na b\r\n\xC4\xA0 ab\r\n");
  LoadOptions options;
  EXPECT_THAT(ErrorOf(directory.path()), HasSubstr("which is the number of no known family"));
  options.family = "gpt2";
  for (const std::string& source : {directory.path(), vocab, merges}) {
    const auto tokenizer = LoadTokenizer(source, options);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
    EXPECT_THAT(Encode(**tokenizer, "ab ab"), ElementsAre(256, 257));
  }
  directory.Write("merges.txt", "a b\na c\n");
  EXPECT_THAT(ErrorOf(vocab, options),
              HasSubstr("merges.txt: merge 2 uses \"ac\", which is not in the vocabulary"));
  directory.Write("merges.txt", "a b\nab\n");
  EXPECT_THAT(ErrorOf(vocab, options), HasSubstr("merges.txt:2: \"ab\" is not a merge"));
  directory.Write("vocab.json", "[]");
  EXPECT_THAT(ErrorOf(vocab, options), HasSubstr("vocab.json: is not a JSON object of tokens"));
}

TEST(TokenizerJsonTest, AcceptsMergesAsPairs) {
  nlohmann::json json = ByteLevelJson({{"a", "b"}});
  json["model"]["merges"] = nlohmann::json::array({nlohmann::json::array({"a", "b"})});
  const auto tokenizer = LoadJson(json);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "ab"), ElementsAre(256));
  ASSERT_EQ((*tokenizer)->files().size(), 1u);
  EXPECT_EQ((*tokenizer)->files()[0].name, "tokenizer.json");
  EXPECT_EQ((*tokenizer)->files()[0].contents, json.dump());
}

TEST(TokenizerJsonTest, AllowsUnusedIds) {
  nlohmann::json json = ByteLevelJson({});
  json["model"]["vocab"]["ab"] = 1000;
  json["model"]["merges"] = {"a b"};
  const auto tokenizer = LoadJson(json);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_THAT(Encode(**tokenizer, "ab"), ElementsAre(1000));
  EXPECT_EQ((*tokenizer)->vocab_size(), 1001);
  EXPECT_EQ((*tokenizer)->Decode({500, 1000}), "ab");
}

TEST(TokenizerJsonTest, RejectsDamagedFiles) {
  const TokenizerDirectory directory;
  EXPECT_THAT(ErrorOf(directory.Write("a.json", "{")), HasSubstr("a.json: is not a JSON object"));
  const auto error = [](auto change) {
    nlohmann::json json = ByteLevelJson({{"a", "b"}});
    change(json);
    return std::string(LoadJson(json).status().message());
  };
  using Json = nlohmann::json;
  EXPECT_THAT(error([](Json& json) {
                json["model"]["vocab"] = {"a", "b"};
              }),
              HasSubstr("has no object model.vocab"));
  EXPECT_THAT(error([](Json& json) { json["model"]["merges"] = "a b"; }),
              HasSubstr("has no list model.merges"));
  EXPECT_THAT(error([](Json& json) { json["model"]["merges"] = {"a b c"}; }),
              HasSubstr("merge 1 is not a pair of tokens"));
  EXPECT_THAT(error([](Json& json) { json["model"]["merges"] = {"a c"}; }),
              HasSubstr("merge 1 uses \"ac\", which is not in the vocabulary"));
  EXPECT_THAT(error([](Json& json) { json["model"]["vocab"]["q"] = -1; }),
              HasSubstr("token \"q\" has no id below"));
  EXPECT_THAT(error([](Json& json) { json["model"]["vocab"]["q"] = 7; }),
              HasSubstr("cannot use token"));
  EXPECT_THAT(error([](Json& json) { json["model"]["unk_token"] = "[UNK]"; }),
              HasSubstr("unk_token \"[UNK]\" is not in the vocabulary"));
  EXPECT_THAT(error([](Json& json) {
                json["added_tokens"] = {{{"id", 1}}};
              }),
              HasSubstr("an entry of added_tokens has no content"));
}

// The end token of DeepSeek-V3 has the id 1, and its documents begin with the begin token.
TEST(TokenizerJsonTest, RecognizesDeepseekByItsSplitsAndTokens) {
  nlohmann::json json = ByteLevelJson({{" ", " "}, {"(", "a"}});
  json["model"]["vocab"] = DeepseekVocab();
  json["model"]["merges"] = nlohmann::json::array();
  json["pre_tokenizer"] = DeepseekSplitsJson();
  nlohmann::json& added = json["added_tokens"];
  added[0]["content"] = "<\uFF5Cend\u2581of\u2581sentence\uFF5C>";
  added[0]["id"] = 1;
  added.push_back(added[0]);
  added[1]["content"] = "<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>";
  added[1]["id"] = 0;
  const auto tokenizer = LoadJson(json);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  EXPECT_EQ((*tokenizer)->name(), "deepseek3");
  EXPECT_EQ((*tokenizer)->begin_of_document(), 0u);
  EXPECT_EQ((*tokenizer)->end_of_document(), 1u);
  EXPECT_TRUE((*tokenizer)->begins_documents());
  // Other splits make it another vocabulary with the same end token.
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  const auto other = LoadJson(json);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ((*other)->name(), "bpe");
  EXPECT_EQ((*other)->end_of_document(), 1u);
}

TEST(TokenizerJsonTest, AcceptsOnlyKnownSequencesOfSplits) {
  nlohmann::json json = ByteLevelJson({{" ", " "}, {"(", "a"}});
  json["pre_tokenizer"] = DeepseekSplitsJson();
  const auto tokenizer = LoadJson(json);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status();
  // White space before a number is one piece, and "(a" is one.
  EXPECT_THAT(Encode(**tokenizer, "(a  1"), ElementsAre(257, 256, '1'));
  const auto expect_error = [&json](const nlohmann::json& splits) {
    json["pre_tokenizer"] = splits;
    EXPECT_THAT(std::string(LoadJson(json).status().message()),
                AllOf(HasSubstr("pre-tokenizer"), HasSubstr("DeepSeek-V3")));
  };
  const auto& patterns = kDeepseekPatterns;
  expect_error(SplitRuleJson({patterns[0], patterns[1]}));
  expect_error(SplitRuleJson({patterns[1], patterns[0], patterns[2]}));
  expect_error(SplitRuleJson({patterns[0], patterns[1], patterns[2], patterns[2]}));
  expect_error(SplitRuleJson({kLlama3Pattern, kLlama3Pattern}));
  expect_error(SplitRuleJson(std::vector<std::string>()));
  nlohmann::json removed = DeepseekSplitsJson();
  removed["pretokenizers"][1]["behavior"] = "Removed";
  expect_error(removed);
  nlohmann::json prefixed = DeepseekSplitsJson();
  prefixed["pretokenizers"][3]["add_prefix_space"] = true;
  expect_error(prefixed);
}

// A setting that changes ids must not be ignored.
TEST(TokenizerJsonTest, RejectsUnsupportedSettingsByName) {
  const auto error = [](auto change) {
    nlohmann::json json = ByteLevelJson({{"a", "b"}});
    change(json);
    return std::string(LoadJson(json).status().message());
  };
  using Json = nlohmann::json;
  EXPECT_THAT(
      error([](Json& json) { json["model"]["type"] = "Unigram"; }),
      HasSubstr("a model of type \"Unigram\" (only BPE is) is not supported; tokenize with"));
  EXPECT_THAT(error([](Json& json) { json["model"]["dropout"] = 0.1; }), HasSubstr("dropout"));
  EXPECT_THAT(error([](Json& json) { json["model"]["end_of_word_suffix"] = "</w>"; }),
              HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(error([](Json& json) { json["normalizer"]["type"] = "NFKC"; }),
              HasSubstr("normalizer {\"type\":\"NFKC\"} is not supported"));
  EXPECT_THAT(error([](Json& json) { json["pre_tokenizer"]["type"] = "Whitespace"; }),
              HasSubstr("pre-tokenizer {\"add_prefix_space\":false,\"type\":\"Whitespace\"}"));
  EXPECT_THAT(error([](Json& json) { json["pre_tokenizer"] = SplitRuleJson("\\p{L}+"); }),
              HasSubstr("pre-tokenizer"));
  EXPECT_THAT(error([](Json& json) {
                json["pre_tokenizer"] = SplitRuleJson(kQwen3Pattern);
                json["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed";
              }),
              HasSubstr("pre-tokenizer"));
  EXPECT_THAT(error([](Json& json) { json["added_tokens"][0]["single_word"] = true; }),
              HasSubstr("single_word of added token \"<|endoftext|>\""));
}

}  // namespace
}  // namespace trainyard::data
