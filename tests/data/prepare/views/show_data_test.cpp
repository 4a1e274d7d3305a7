#include "data/prepare/views/show_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/prepare/cleaning/filter_data.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class ShowDataTest : public testing::Test {
 protected:
  // Documents 1 and 3 are kept, document 2 is dropped.
  void SetUp() override {
    directory_.Write("in/a.jsonl", json({{"id", 1}, {"text", prose_}}).dump() + "\n" +
                                       json({{"id", 2}, {"text", "red\x1b[2J"}}).dump() + "\n" +
                                       json({{"id", 3}, {"text", other_}}).dump() + "\n");
    Progress progress = QuietProgress();
    FilterOptions filter;
    filter.inputs = {directory_ / "in"};
    filter.rules = "guide";
    filter.out = directory_ / "kept";
    filter.jobs = 1;
    ASSERT_TRUE(FilterData(filter, &progress, kNeverCancelled).ok());
  }

  ShowOptions Showing(const std::string& directory, const std::string& document) const {
    ShowOptions options;
    options.directory = directory_ / directory;
    options.document = document;
    return options;
  }

  TextDirectory directory_;
  const std::string prose_ = Prose(600, 1);
  const std::string other_ = Prose(500, 2);
};

TEST_F(ShowDataTest, ShowsAKeptDocument) {
  ShowOptions options = Showing("kept", "2");
  options.tokenizers = {"gpt2", "byte"};
  const auto shown = ShowDocument(options);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(shown->text, other_);
  ASSERT_TRUE(shown->run);
  EXPECT_FALSE(shown->run->is_dropped);
  EXPECT_EQ(shown->run->fields["id"], 3);
  EXPECT_EQ(shown->run->origins.origins[0].place, directory_ / "in/a.jsonl" + ":3");
  ASSERT_EQ(shown->tokenizers.size(), 2u);
  EXPECT_EQ(shown->tokenizers[0].ends.back(), other_.size());
  EXPECT_EQ(shown->tokenizers[1].ids.size(), other_.size());
}

TEST_F(ShowDataTest, StatesWhyADocumentWasDropped) {
  const ShowOptions options = Showing("kept", directory_ / "in/a.jsonl" + ":2");
  const auto shown = ShowDocument(options);
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(ShownText(*shown, options),
            "directory    " + directory_ / "kept" +
                "\n"
                "document     dropped by filter, number 1 of the dropped documents\n"
                "reason       {\"rule\":\"words\",\"value\":1.0}\n"
                "input of     filter: " +
                directory_ / "in/a.jsonl" +
                ":2\n"
                "field        id: 2\n"
                "text         7 B\n"
                "\n"
                "red\\u001b[2J\n");
  const json report = json::parse(ShownJson(*shown, options));
  EXPECT_EQ(report["run"]["dropped"], true);
  EXPECT_EQ(report["run"]["reason"]["rule"], "words");
  EXPECT_EQ(report["text"], "red\x1b[2J");
  EXPECT_TRUE(report["token_files"].is_null());
}

TEST_F(ShowDataTest, DecodesTokenFiles) {
  for (const std::string tokenizer : {"gpt2", "byte"}) {
    PrepareOptions prepare = TrainOnly(directory_, tokenizer, tokenizer);
    prepare.inputs = {directory_ / "kept"};
    ASSERT_TRUE(PrepareQuietly(prepare).ok());
    const auto shown = ShowDocument(Showing(tokenizer, "2"));
    ASSERT_TRUE(shown.ok()) << shown.status();
    EXPECT_EQ(shown->text, other_);
    EXPECT_FALSE(shown->run);
    ASSERT_TRUE(shown->tokens);
    EXPECT_EQ(shown->tokens->number, 2);
    ASSERT_EQ(shown->tokenizers.size(), 1u);
    EXPECT_EQ(shown->tokenizers[0].name, tokenizer);
    const std::string position = "train@" + std::to_string(shown->tokens->first_token);
    EXPECT_EQ(ShowDocument(Showing(tokenizer, position))->text, other_);
  }
}

TEST_F(ShowDataTest, DecodesTokenFilesOfATrainedTokenizer) {
  directory_.Write("in/a.jsonl", json({{"text", Prose(60000, 3)}}).dump() + "\n");
  PrepareOptions prepare = TrainOnly(directory_, "bpe");
  prepare.vocab_size = 512;
  ASSERT_TRUE(PrepareQuietly(prepare).ok());
  const auto shown = ShowDocument(Showing("out", "1"));
  ASSERT_TRUE(shown.ok()) << shown.status();
  EXPECT_EQ(shown->text, Prose(60000, 3));
}

TEST_F(ShowDataTest, CutsLongTexts) {
  ShowOptions options = Showing("kept", "1");
  options.tokenizers = {"byte"};
  options.max_bytes = 5;
  const auto shown = ShowDocument(options);
  ASSERT_TRUE(shown.ok()) << shown.status();
  const std::string start = prose_.substr(0, 5);
  const std::string more = ReadableBytes(static_cast<int64_t>(prose_.size()) - 5);
  EXPECT_THAT(ShownText(*shown, options),
              HasSubstr("\n\n" + start + "\n... " + more + " more; raise --max-bytes\n"));
  const json report = json::parse(ShownJson(*shown, options));
  EXPECT_EQ(report["text"], start);
  EXPECT_EQ(report["bytes"], prose_.size());
  EXPECT_EQ(report["tokenizers"][0]["tokens"], prose_.size());
  EXPECT_EQ(report["tokenizers"][0]["ends"], json({1, 2, 3, 4, 5}));
  EXPECT_EQ(report["tokenizers"][0]["ids"].size(), 5u);
}

TEST_F(ShowDataTest, ErrorsNameTheNextStep) {
  EXPECT_THAT(ShowDocument(Showing("kept", "3")).status().message(),
              HasSubstr("has 2 kept documents"));
  EXPECT_EQ(ShowDocument(Showing("in", "1")).status().code(), absl::StatusCode::kNotFound);
  ShowOptions options = Showing("kept", "1");
  options.tokenizers = {"none"};
  EXPECT_EQ(ShowDocument(options).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace trainyard::data
