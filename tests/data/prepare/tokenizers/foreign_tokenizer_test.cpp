// Prepares data with tokenizers that were trained elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "data/tokenizer/fingerprint.h"
#include "tests/data/compressed_text.h"
#include "tests/data/prepare/splits/prepared_data.h"
#include "tests/data/tokenizer/tokenizer_files.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Text of several blocks, in which a cut after a line end would change the ids of GPT-2: line ends
// precede spaces and other line ends.
std::string Lines(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  const char* const words[] = {"word",           " the", "  ",       "\n",    "\n\n",
                               "\n    ",         ".\n",  "\xC3\xA9", " 1234", "\t",
                               "\xE4\xB8\xAD\n", "\r\n", "</s>",     "<s>"};
  std::string text;
  while (text.size() < bytes) text += words[random() % std::size(words)];
  return text;
}

// The ids of documents that are encoded whole, with those that begin and end documents.
std::vector<uint32_t> WholeIds(const Tokenizer& tokenizer,
                               const std::vector<std::string>& documents) {
  std::vector<uint32_t> ids;
  for (const std::string& document : documents) {
    if (tokenizer.begins_documents()) ids.push_back(*tokenizer.begin_of_document());
    tokenizer.Encode(document, &ids);
    ids.push_back(tokenizer.end_of_document());
  }
  return ids;
}

std::unique_ptr<Tokenizer> Load(const std::string& source) {
  auto tokenizer = LoadTokenizer(source, {});
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

// A tokenizer like LLaMA-2's, with a space before each document.
nlohmann::json SpaceJson() {
  const std::string space = "\xE2\x96\x81";
  return CharacterJson(
      {space, "a", "t", "h", "e", "w", "o", "\n", space + "t", space + space, "he"},
      {{space, "t"}, {"h", "e"}, {space, space}});
}

TEST(ForeignTokenizerTest, PartsOfDocumentsHaveTheIdsOfWholeDocuments) {
  const TextDirectory directory;
  const std::vector<std::string> documents = {
      Lines(3500000, 1), Lines(2000000, 2), std::string(200000, '\n'), "short\n", Lines(90000, 3)};
  directory.Write("in/a.txt", documents[0]);
  directory.Write("in/b.txt.gz", Gzip(documents[1]));
  directory.Write("in/c.txt", documents[2]);
  directory.Write("in/d.txt", documents[3]);
  directory.Write("in/e.jsonl", nlohmann::json({{"text", documents[4]}}).dump() + "\n");
  nlohmann::json llama3 = ByteLevelJson({{"\n", "\n"}, {".", "\n"}, {" ", "t"}, {"w", "o"}});
  llama3["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  for (const std::string& source :
       {std::string("gpt2"), directory.Write("llama3/tokenizer.json", llama3.dump()),
        directory.Write("llama2/tokenizer.json", SpaceJson().dump())}) {
    for (const int jobs : {1, 2, 7}) {
      PrepareOptions options = TrainOnly(directory, source, "out" + std::to_string(jobs));
      options.jobs = jobs;
      options.force = true;
      const auto summary = PrepareQuietly(options);
      ASSERT_TRUE(summary.ok()) << summary.status();
    }
    const std::vector<uint32_t> whole = WholeIds(*Load(source), documents);
    EXPECT_TRUE(IdsOf(directory / "out1/train") == whole) << source;
    for (const char* file : {"/train.bin", "/train.json", "/tokenizer.json"}) {
      const std::string one = ReadFile(directory.path() + "/out1" + file);
      EXPECT_FALSE(one.empty());
      EXPECT_TRUE(one == ReadFile(directory.path() + "/out2" + file)) << source << file;
      EXPECT_TRUE(one == ReadFile(directory.path() + "/out7" + file)) << source << file;
    }
  }
}

// Both splits together have the ids of the whole text, and each run of parts is one document.
TEST(ForeignTokenizerTest, SplitsShareTheIdsOfADocument) {
  const TextDirectory directory;
  const std::string text = Lines(3000000, 4);
  directory.Write("in/a.txt", text);
  PrepareOptions options = TrainOnly(directory, "gpt2");
  options.val_fraction = 0.4;
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->val.documents, 5);
  const auto gpt2 = Load("gpt2");
  std::vector<uint32_t> ids = IdsOf(directory / "out/train");
  const std::vector<uint32_t> val = IdsOf(directory / "out/val");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 50256u), summary->train.documents);
  ids.insert(ids.end(), val.begin(), val.end());
  std::erase(ids, 50256u);
  std::vector<uint32_t> whole;
  gpt2->Encode(text, &whole);
  std::sort(ids.begin(), ids.end());
  std::sort(whole.begin(), whole.end());
  EXPECT_TRUE(ids == whole);
}

TEST(ForeignTokenizerTest, DescribesTheTokenizer) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "some text");
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, "gpt2")).ok());
  const nlohmann::json gpt2 = JsonFile(directory / "out/tokenizer.json");
  EXPECT_EQ(gpt2["kind"], "bpe");
  EXPECT_EQ(gpt2["name"], "gpt2");
  EXPECT_EQ(gpt2["vocab_size"], 50257);
  EXPECT_EQ(gpt2["fingerprint"], FingerprintText(Load("gpt2")->fingerprint()));
  EXPECT_EQ(gpt2["end_of_document"], 50256);
  EXPECT_FALSE(gpt2.contains("begin_of_document"));
  EXPECT_FALSE(gpt2.contains("files")) << "gpt2 is part of the program";
  const nlohmann::json header = JsonFile(directory / "out/train.json");
  EXPECT_EQ(header["dtype"], "uint16");
  EXPECT_EQ(header["tokens"], 3);
  EXPECT_FALSE(header.contains("begin_of_document"));
}

TEST(ForeignTokenizerTest, DocumentsBeginAsModelsExpect) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", "{\"text\": \"ab\"}\n{\"text\": \"\"}\n{\"text\": \"b\"}\n");
  nlohmann::json json = ByteLevelJson({{"a", "b"}});
  json["pre_tokenizer"] = SplitRuleJson(kLlama3Pattern);
  json["added_tokens"][0]["content"] = "<|end_of_text|>";
  json["added_tokens"].push_back(json["added_tokens"][0]);
  json["added_tokens"][1]["content"] = "<|begin_of_text|>";
  json["added_tokens"][1]["id"] = 258;
  PrepareOptions options = TrainOnly(directory, directory.Write("t.json", json.dump()));
  options.tokenizer_options.family = "llama3";
  const auto summary = PrepareQuietly(options);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_THAT(IdsOf(directory / "out/train"), ElementsAre(258, 256, 257, 258, 'b', 257));
  EXPECT_EQ(summary->train.tokens, 6);
  EXPECT_EQ(summary->train.documents, 2);
  const nlohmann::json header = JsonFile(directory / "out/train.json");
  EXPECT_EQ(header["begin_of_document"], 258);
  EXPECT_EQ(header["end_of_document"], 257);
  EXPECT_EQ(header["tokens"], 6);
  const nlohmann::json described = JsonFile(directory / "out/tokenizer.json");
  EXPECT_EQ(described["name"], "llama3");
  EXPECT_EQ(described["begin_of_document"], 258);
  EXPECT_EQ(described["begins_documents"], true);
}

// The copy in the data set is the same tokenizer.
TEST(ForeignTokenizerTest, KeepsTheFilesOfTheTokenizer) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "the oat");
  const std::string source = directory.Write("my_name.json", SpaceJson().dump());
  ASSERT_TRUE(PrepareQuietly(TrainOnly(directory, source)).ok());
  const nlohmann::json described = JsonFile(directory / "out/tokenizer.json");
  EXPECT_EQ(described["files"], nlohmann::json::array({"tokenizer/tokenizer.json"}));
  EXPECT_EQ(described["begin_of_document"], 1);
  EXPECT_EQ(described["begins_documents"], false);
  EXPECT_EQ(ReadFile(directory / "out/tokenizer/tokenizer.json"), SpaceJson().dump());
  const auto copy = Load(directory / "out/tokenizer");
  EXPECT_EQ(described["fingerprint"], FingerprintText(copy->fingerprint()));
  EXPECT_EQ(copy->Decode(IdsOf(directory / "out/train")), "the oat");
}

TEST(ForeignTokenizerTest, LargeVocabulariesHaveFourBytesPerToken) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "ab");
  nlohmann::json json = ByteLevelJson({{"a", "b"}});
  for (const auto& [id, dtype] : {std::pair(65535, "uint16"), {65536, "uint32"}}) {
    json["added_tokens"][0]["id"] = id;
    PrepareOptions options = TrainOnly(directory, directory.Write("t.json", json.dump()));
    options.force = true;
    const auto summary = PrepareQuietly(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(JsonFile(directory / "out/train.json")["dtype"], dtype);
    EXPECT_THAT(IdsOf(directory / "out/train"), ElementsAre(256u, static_cast<uint32_t>(id)));
  }
}

TEST(ForeignTokenizerTest, SpecialTokensInTheTextAreCounted) {
  const TextDirectory directory;
  directory.Write("in/a.jsonl", R"({"text": "a<|endoftext|>b<|endoftext|>"})"
                                "\n"
                                R"({"text": "<|endoftext>"})"
                                "\n"
                                R"({"text": "<|endoftext|>"})");
  // The token is in the first part of this document.
  directory.Write("in/b.txt", "<|endoftext|>" + Prose(100000, 1));
  const auto as_text = PrepareQuietly(TrainOnly(directory, "gpt2"));
  ASSERT_TRUE(as_text.ok()) << as_text.status();
  EXPECT_EQ(as_text->special_documents, 3);
  EXPECT_THAT(SummaryText(*as_text),
              HasSubstr("3 documents contain special tokens, encoded as text"));
  const auto ends = [&](const std::string& out) {
    const std::vector<uint32_t> ids = IdsOf(directory / (out + "/train"));
    return std::count(ids.begin(), ids.end(), 50256u);
  };
  EXPECT_EQ(ends("out"), 4);
  PrepareOptions options = TrainOnly(directory, "gpt2", "ids");
  options.tokenizer_options.special_text = "id";
  const auto as_ids = PrepareQuietly(options);
  ASSERT_TRUE(as_ids.ok());
  EXPECT_EQ(as_ids->special_documents, 3);
  EXPECT_THAT(SummaryText(*as_ids), HasSubstr("encoded as their ids"));
  EXPECT_EQ(ends("ids"), 8);
  EXPECT_EQ(JsonFile(directory / "ids/tokenizer.json")["special_text"], "id");
}

TEST(ForeignTokenizerTest, ErrorsNameTheTokenizer) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "text");
  const auto error = [&](const PrepareOptions& options) {
    return std::string(PrepareQuietly(options).status().message());
  };
  EXPECT_THAT(error(TrainOnly(directory, "none.json")), HasSubstr("none.json: cannot open"));
  EXPECT_THAT(error(TrainOnly(directory, directory / "in")),
              HasSubstr("contains neither tokenizer.json"));
  PrepareOptions options = TrainOnly(directory, "gpt2");
  options.tokenizer_options.family = "gpt9";
  EXPECT_THAT(error(options), HasSubstr("family \"gpt9\" is unknown"));
  EXPECT_THAT(directory.Names(), ElementsAre("in"));
}

}  // namespace
}  // namespace trainyard::data
