// The inputs of documents that `data prepare` records and `data show` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "data/prepare/cleaning/filter_data.h"
#include "data/prepare/views/show_data.h"
#include "data/prepare/views/verify.h"
#include "tests/data/compressed_text.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class InputPlacesTest : public testing::Test {
 protected:
  static std::string Line(const std::string& text) { return json({{"text", text}}).dump() + "\n"; }

  PrepareOptions Options() const {
    PrepareOptions options = TrainOnly(files_, "byte");
    options.bad_fraction = 1;
    options.force = true;
    return options;
  }

  ShownDocument Show(const std::string& name) const {
    ShowOptions options;
    options.directory = files_ / "out";
    options.document = name;
    const auto shown = ShowDocument(options);
    EXPECT_TRUE(shown.ok()) << name << " " << shown.status();
    return shown.ok() ? *shown : ShownDocument();
  }

  // The texts of a split by place.
  std::map<std::string, std::string> Places(const std::string& split) const {
    std::map<std::string, std::string> places;
    const int64_t documents = JsonFile(files_ / ("out/" + split + ".json"))["documents"];
    for (int64_t number = 1; number <= documents; ++number) {
      const ShownDocument shown = Show(split + ":" + std::to_string(number));
      if (!shown.tokens || shown.tokens->origins.origins.size() != 1) {
        ADD_FAILURE() << number << " " << (shown.tokens ? shown.tokens->origins.problem : "");
        continue;
      }
      EXPECT_EQ(shown.tokens->origins.origins[0].step, "prepare");
      places[shown.tokens->origins.origins[0].place] = shown.text;
    }
    EXPECT_EQ(places.size(), static_cast<size_t>(documents));
    return places;
  }

  const TextDirectory files_;
};

// Blank and bad lines count as lines, also behind the first block of 1 MiB.
TEST_F(InputPlacesTest, LinesAreThoseOfTheFile) {
  std::map<std::string, std::string> expected;
  std::string text;
  int64_t lines = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    const std::string document = std::to_string(i) + " " + Prose(70'000, i);
    text += "\n{bad\n" + Line(document);
    lines += 3;
    expected["a.jsonl:" + std::to_string(lines)] = document;
  }
  files_.Write("in/a.jsonl", text);
  files_.Write("in/b.jsonl.zst", Zstd(text));
  PrepareOptions options = Options();
  options.val_fraction = 0.3;
  ASSERT_TRUE(PrepareQuietly(options).ok());
  std::map<std::string, std::string> places = Places("train");
  EXPECT_LT(places.size(), 80u);
  places.merge(Places("val"));
  ASSERT_EQ(places.size(), 80u);
  for (const auto& [place, document] : expected) {
    EXPECT_EQ(places[files_ / ("in/" + place)], document) << place;
    std::string compressed = place;
    compressed.replace(0, 7, "b.jsonl.zst");
    EXPECT_EQ(places[files_ / ("in/" + compressed)], document) << compressed;
  }
}

// Parts of a long file go to both splits, and begin at their bytes.
TEST_F(InputPlacesTest, PartsOfPlainTextBeginAtTheirBytes) {
  const std::string text = "\xEF\xBB\xBF" + Prose(3'000'000, 1);
  files_.Write("in/long.txt", text);
  PrepareOptions options = Options();
  options.val_fraction = 0.2;
  ASSERT_TRUE(PrepareQuietly(options).ok());
  std::map<std::string, std::string> places = Places("train");
  places.merge(Places("val"));
  EXPECT_GT(places.size(), 10u);
  size_t bytes = 0;
  for (const auto& [place, part] : places) {
    const size_t mark = place.rfind(", byte ");
    ASSERT_NE(mark, std::string::npos) << place;
    EXPECT_EQ(place.substr(0, mark), files_ / "in/long.txt");
    EXPECT_TRUE(text.compare(std::stoul(place.substr(mark + 7)), part.size(), part) == 0) << place;
    bytes += part.size();
  }
  EXPECT_EQ(bytes, text.size() - 3);
}

TEST_F(InputPlacesTest, WholeFilesHaveNoByte) {
  files_.Write("in/a.txt", "short");
  files_.Write("in/b.md.gz", Gzip("other"));
  files_.Write("in/c.pod", "=pod\n\nmanual\n");
  files_.Write("val/v.txt", "validation");
  PrepareOptions options = Options();
  options.val = {files_ / "val"};
  ASSERT_TRUE(PrepareQuietly(options).ok());
  std::map<std::string, std::string> places = Places("train");
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[files_ / "in/a.txt"], "short");
  EXPECT_EQ(places[files_ / "in/b.md.gz"], "other");
  EXPECT_THAT(places[files_ / "in/c.pod"], HasSubstr("manual"));
  EXPECT_EQ(Places("val"),
            (std::map<std::string, std::string>{{files_ / "val/v.txt", "validation"}}));
}

// A block with repaired text has the position of the block.
TEST_F(InputPlacesTest, RepairedTextBeginsWithItsBlock) {
  files_.Write("in/a.txt", "red \xff train");
  PrepareOptions options = Options();
  options.utf8 = "replace";
  ASSERT_TRUE(PrepareQuietly(options).ok());
  EXPECT_EQ(Places("train").begin()->first, files_ / "in/a.txt");
}

TEST_F(InputPlacesTest, FollowsADocumentThroughEarlierRuns) {
  files_.Write("in/a.jsonl",
               Line("red") + Line(Prose(600, 1)) + Line("blue") + Line(Prose(500, 2)));
  const auto filter = [&](const std::string& in, const std::string& out) {
    Progress progress = QuietProgress();
    FilterOptions options;
    options.inputs = {files_ / in};
    options.rules = "guide";
    options.out = files_ / out;
    options.jobs = 1;
    options.force = true;
    return FilterData(options, &progress, kNeverCancelled).status();
  };
  ASSERT_TRUE(filter("in", "kept").ok());
  ASSERT_TRUE(filter("kept", "again").ok());
  PrepareOptions options = Options();
  options.inputs = {files_ / "again"};
  ASSERT_TRUE(PrepareQuietly(options).ok());
  const ShownDocument shown = Show("2");
  ASSERT_TRUE(shown.tokens);
  ShowOptions show;
  EXPECT_THAT(ShownText(shown, show),
              HasSubstr("input of     prepare: " + files_ / "again/part-00000.jsonl.zst" +
                        ":2\n"
                        "input of     filter: " +
                        files_ / "kept/part-00000.jsonl.zst" +
                        ":2\n"
                        "input of     filter: " +
                        files_ / "in/a.jsonl" + ":4\n"));
  const json facts = json::parse(ShownJson(shown, show))["token_files"];
  EXPECT_EQ(facts["origins"][2]["place"], files_ / "in/a.jsonl" + ":4");
  EXPECT_EQ(facts["origin_problem"], "");

  // The earlier documents are unknown after another run into the same directory.
  files_.Write("in/a.jsonl", Line(Prose(500, 2)) + Line(Prose(600, 1)));
  ASSERT_TRUE(filter("in", "kept").ok());
  const ShownDocument changed = Show("2");
  ASSERT_TRUE(changed.tokens);
  EXPECT_EQ(changed.tokens->origins.origins.size(), 2u);
  EXPECT_THAT(changed.tokens->origins.problem,
              HasSubstr(files_ / "kept" + " was written by another run"));
  ASSERT_TRUE(filter("kept", "again").ok());
  EXPECT_EQ(Show("2").tokens->origins.origins.size(), 1u);
}

// A special token in the text divides its document, but not its place.
TEST_F(InputPlacesTest, PlacesFollowTokensInsteadOfNumbers) {
  files_.Write("in/a.jsonl", Line("red<|endoftext|>blue") + Line("green"));
  PrepareOptions options = Options();
  options.tokenizer = "gpt2";
  options.tokenizer_options.special_text = "id";
  ASSERT_TRUE(PrepareQuietly(options).ok());
  for (const auto& [number, line] : {std::pair("2", "1"), std::pair("3", "2")}) {
    EXPECT_EQ(Show(number).tokens->origins.origins[0].place, files_ / "in/a.jsonl" + ":" + line);
  }
}

// Data sets of earlier releases have no such file.
TEST_F(InputPlacesTest, OlderDataSetsStateTheReason) {
  files_.Write("in/a.jsonl", Line("red"));
  ASSERT_TRUE(PrepareQuietly(Options()).ok());
  json header = JsonFile(files_ / "out/train.json");
  header.erase("sources");
  files_.Write("out/train.json", header.dump());
  const ShownDocument shown = Show("1");
  EXPECT_EQ(shown.text, "red");
  EXPECT_THAT(ShownText(shown, {}), HasSubstr("origin       unknown: " + files_ / "out" +
                                              ": does not record the inputs"));
}

TEST_F(InputPlacesTest, VerifyFindsADamagedFile) {
  files_.Write("in/a.jsonl", Line("red"));
  for (const char* format : {"trainyard", "megatron", "nanogpt", "llmc"}) {
    PrepareOptions options = Options();
    options.tokenizer = "gpt2";
    options.format = format;
    ASSERT_TRUE(PrepareQuietly(options).ok());
    Progress progress = QuietProgress();
    auto report = VerifyDataset({files_ / "out"}, &progress, kNeverCancelled);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_THAT(report->problems, testing::IsEmpty()) << format;
    std::string bytes = ReadFile(files_ / "out/train.sources");
    bytes[20] = '?';
    files_.Write("out/train.sources", bytes);
    report = VerifyDataset({files_ / "out"}, &progress, kNeverCancelled);
    EXPECT_THAT(report->problems,
                testing::ElementsAre(HasSubstr("train.sources: the checksum is ")));
  }
}

}  // namespace
}  // namespace trainyard::data
