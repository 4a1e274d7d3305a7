#include "data/dedup/dedup_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "data/input/block_reader.h"
#include "tests/data/compressed_text.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Line(const std::string& text) {
  return nlohmann::json({{"text", text}, {"kind", "test"}}).dump() + "\n";
}

// JSON lines of random documents. About a third are copies with few edits.
std::string RandomLines(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<uint32_t>> documents;
  std::string lines;
  for (int i = 0; i < count; ++i) {
    std::vector<uint32_t> words(100);
    for (uint32_t& word : words) word = static_cast<uint32_t>(random() % 5000);
    if (i % 3 == 2) {
      words = documents[random() % documents.size()];
      for (uint32_t edits = static_cast<uint32_t>(random() % 4); edits > 0; --edits) {
        words[random() % words.size()] = static_cast<uint32_t>(random() % 5000);
      }
    }
    std::string text;
    for (const uint32_t word : words) text += "w" + std::to_string(word) + " ";
    documents.push_back(std::move(words));
    lines += Line(text);
  }
  return lines;
}

class DedupRunTest : public ::testing::Test {
 protected:
  struct Options {
    std::string preset = "near";
    std::string keep;
    int threads = 2;
    int64_t block_bytes = int64_t{16} << 20;
    std::vector<std::string> against;
    BadLinePolicy bad_lines;
  };

  absl::StatusOr<DedupResult> Run(const std::string& out, const Options& options) {
    DedupRunSettings settings;
    settings.dedup = *PresetSettings(options.preset, std::nullopt, options.keep);
    settings.run.out = files_ / out;
    settings.run.threads = options.threads;
    settings.run.bad_lines = options.bad_lines;
    settings.limits.block_bytes = options.block_bytes;
    std::vector<InputFile> references;
    if (!options.against.empty()) references = *FindInputFiles(options.against);
    const DedupObserver observer = {[](const std::string&, int64_t) {}, [](int64_t) {}};
    return RunDedup(*FindInputFiles({files_ / "in"}), references, settings, observer, cancelled_);
  }

  // The files of a run, without the lock and the log, which contains times.
  std::map<std::string, std::string> Contents(const std::string& out) const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(files_ / out)) {
      const std::string name = entry.path().filename().string();
      if (name != ".lock" && name != "records.log") contents[name] = ReadFile(entry.path());
    }
    return contents;
  }

  // The lines of all parts of a stream.
  std::vector<nlohmann::json> Lines(const std::string& out, const std::string& stream) const {
    std::vector<nlohmann::json> lines;
    for (const auto& [name, ignored] : Contents(out)) {
      if (!name.starts_with(stream + "-")) continue;
      const auto inputs = *FindInputFiles({files_ / out + "/" + name});
      BlockReader reader(inputs);
      for (RawBlock block; *reader.Next(&block);) {
        std::istringstream text(block.bytes);
        for (std::string line; std::getline(text, line);) {
          lines.push_back(nlohmann::json::parse(line));
        }
      }
    }
    return lines;
  }

  std::vector<std::string> KeptTexts(const std::string& out) const {
    std::vector<std::string> texts;
    for (const nlohmann::json& line : Lines(out, "part")) texts.push_back(line["text"]);
    return texts;
  }

  // "ID of the dropped document < ID of the kept one"
  std::vector<std::string> DroppedIds(const std::string& out) const {
    std::vector<std::string> ids;
    for (const nlohmann::json& line : Lines(out, "dropped")) {
      const auto name = [this](const std::string& id) {
        return id.substr(files_.path().size() + 1);
      };
      const nlohmann::json& reason = line["trainyard_dropped"];
      ids.push_back(name(reason["id"]) + " < " + name(reason["kept"]));
    }
    return ids;
  }

  TextDirectory files_;
  std::atomic<bool> cancelled_ = false;
};

TEST_F(DedupRunTest, TheReportContainsTheLargestClustersWithTheirMembers) {
  std::string lines = Line("two") + Line("three") + Line("THREE");
  for (int i = 0; i < 12; ++i) lines += Line("one");
  files_.Write("in/a.jsonl", lines);
  files_.Write("against/b.jsonl", Line("two"));
  Options options;
  options.against = {files_ / "against"};
  const absl::StatusOr<DedupResult> result = Run("out", options);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto report = nlohmann::json::parse(Contents("out").at("report.json"));
  EXPECT_EQ(report["dedup"]["references"], 1);
  EXPECT_EQ(report["dedup"]["clusters"], 3);
  const nlohmann::json& largest = report["dedup"]["largest"];
  const std::string file = files_ / "in/a.jsonl";
  EXPECT_EQ(largest[0]["documents"], 12);
  EXPECT_EQ(largest[0]["kept"], file + ":4");
  ASSERT_EQ(largest[0]["members"].size(), ReportedCluster::kMembers);
  EXPECT_EQ(largest[0]["members"][9]["id"], file + ":14");
  EXPECT_EQ(largest[1]["kept"], files_ / "against/b.jsonl" + ":1");
  EXPECT_EQ(largest[1]["members"],
            nlohmann::json::array({{{"id", file + ":1"}, {"similarity", 1.0}}}));
  EXPECT_EQ(report["settings"]["against"][0]["directory"], files_ / "against");
  EXPECT_EQ(report["settings"]["against"][0]["files"], 1);
}

TEST_F(DedupRunTest, TheFirstOfEqualDocumentsIsKept) {
  files_.Write("in/a.jsonl", Line("one") + "\n" + Line("two") + Line("ONE"));
  files_.Write("in/b.jsonl", Line("three") + Line("two"));
  const absl::StatusOr<DedupResult> result = Run("out", {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->documents_in, 5);
  EXPECT_EQ(result->documents_out, 3);
  EXPECT_EQ(result->clusters, 2u);
  EXPECT_EQ(result->largest[0].kept, files_ / "in/a.jsonl:1");
  EXPECT_THAT(KeptTexts("out"), ElementsAre("one", "two", "three"));
  EXPECT_EQ(Lines("out", "part")[0]["kind"], "test");  // the whole line is kept
  EXPECT_THAT(DroppedIds("out"),
              ElementsAre("in/a.jsonl:4 < in/a.jsonl:1", "in/b.jsonl:2 < in/a.jsonl:3"));
  const nlohmann::json dropped = Lines("out", "dropped")[0];
  EXPECT_EQ(dropped["trainyard_dropped"]["similarity"], 1);
  EXPECT_EQ(dropped["text"], "ONE");
  EXPECT_EQ(dropped["kind"], "test");
}

TEST_F(DedupRunTest, LinesAreNumberedAcrossBlocks) {
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += Line("unique words of document " + std::to_string(i));
  files_.Write("in/a.jsonl", lines + Line("unique words of document 40") + Line("twins") +
                                 lines.substr(0, lines.find('\n') + 1) + Line("twins"));
  ASSERT_TRUE(Run("out", {.block_bytes = 300}).ok());
  EXPECT_THAT(DroppedIds("out"),
              ElementsAre("in/a.jsonl:51 < in/a.jsonl:41", "in/a.jsonl:53 < in/a.jsonl:1",
                          "in/a.jsonl:54 < in/a.jsonl:52"));
}

TEST_F(DedupRunTest, TheOutputDoesNotDependOnThreads) {
  files_.Write("in/a.jsonl", RandomLines(600, 1));
  files_.Write("in/b.jsonl", RandomLines(300, 1));
  files_.Write("in/c.jsonl.zst", Zstd(RandomLines(300, 2)));
  files_.Write("in/d.txt", "A text file.\n");
  files_.Write("in/e.md", "a text file");
  for (const char* preset : {"near", "fineweb", "exact"}) {
    const std::string name = preset;
    for (const int threads : {1, 2, 7}) {
      Options options;
      options.preset = preset;
      options.threads = threads;
      options.block_bytes = 20000;
      const auto result = Run(name + std::to_string(threads), options);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_GE(result->documents_in - result->documents_out, 301) << name;
    }
    EXPECT_EQ(Contents(name + "1"), Contents(name + "2")) << name;
    EXPECT_EQ(Contents(name + "1"), Contents(name + "7")) << name;
  }
}

TEST_F(DedupRunTest, CompressionDoesNotChangeTheDecisions) {
  files_.Write("in/a.jsonl", RandomLines(500, 3));
  ASSERT_TRUE(Run("plain", {.block_bytes = 20000}).ok());
  files_.Write("in/a.jsonl.gz", Gzip(ReadFile(files_ / "in/a.jsonl")));
  std::filesystem::remove(files_ / "in/a.jsonl");
  ASSERT_TRUE(Run("gzip", {}).ok());
  EXPECT_EQ(KeptTexts("plain"), KeptTexts("gzip"));
}

TEST_F(DedupRunTest, TextFilesAreDocuments) {
  files_.Write("in/a.txt", "The first text file.\n");
  files_.Write("in/b.md", "the first text file");
  ASSERT_TRUE(Run("out", {}).ok());
  EXPECT_THAT(KeptTexts("out"), ElementsAre("The first text file.\n"));
  EXPECT_THAT(DroppedIds("out"), ElementsAre("in/b.md < in/a.txt"));
}

TEST_F(DedupRunTest, DocumentsOfOtherDataSetsAreDropped) {
  files_.Write("val/a.jsonl", Line("two") + Line("two"));
  files_.Write("in/a.jsonl", Line("one") + Line("two") + Line("three"));
  for (const char* keep : {"greedy", "components"}) {
    Options options;
    options.keep = keep;
    options.against = {files_ / "val"};
    const absl::StatusOr<DedupResult> result = Run(keep, options);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->references, 2);
    EXPECT_EQ(result->documents_in, 3);
    EXPECT_THAT(KeptTexts(keep), ElementsAre("one", "three"));
    EXPECT_THAT(DroppedIds(keep), ElementsAre("in/a.jsonl:2 < val/a.jsonl:1"));
  }
}

TEST_F(DedupRunTest, AnInterruptedRunCanBeRepeated) {
  files_.Write("in/a.jsonl", RandomLines(300, 4));
  cancelled_ = true;
  EXPECT_EQ(Run("out", {}).status().code(), absl::StatusCode::kCancelled);
  cancelled_ = false;
  ASSERT_TRUE(Run("out", {}).ok());
  ASSERT_TRUE(Run("other", {}).ok());
  EXPECT_EQ(Contents("out"), Contents("other"));
  // A complete run is not changed.
  EXPECT_EQ(Run("out", {})->documents_out, Run("other", {})->documents_out);
}

TEST_F(DedupRunTest, ScratchFilesAreRemoved) {
  files_.Write("in/a.jsonl", RandomLines(10, 5));
  ASSERT_TRUE(Run("out", {}).ok());
  EXPECT_THAT(files_.Names(), ElementsAre("in", "out"));
  cancelled_ = true;
  (void)Run("out2", {});
  EXPECT_THAT(files_.Names(), ElementsAre("in", "out", "out2"));
}

TEST_F(DedupRunTest, ADirectoryWithOtherFilesIsRefused) {
  files_.Write("in/a.jsonl", Line("one"));
  files_.Write("out/precious", "");
  EXPECT_EQ(Run("out", {}).status().code(), absl::StatusCode::kAlreadyExists);
  // Another preset is another run.
  ASSERT_TRUE(Run("near", {}).ok());
  EXPECT_THAT(Run("near", {.preset = "exact"}).status().message(), HasSubstr("dedup"));
}

TEST_F(DedupRunTest, BadLinesAreSkippedOrRefused) {
  files_.Write("in/a.jsonl", Line("one") + "{bad\n" + Line("one"));
  EXPECT_EQ(Run("stop", {.bad_lines = {.stop = true}}).status().code(),
            absl::StatusCode::kDataLoss);
  const auto result = Run("skip", {.bad_lines = {.max_fraction = 1}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->bad_lines, HasSubstr("1 of 3 lines skipped"));
  EXPECT_THAT(DroppedIds("skip"), ElementsAre("in/a.jsonl:3 < in/a.jsonl:1"));
}

TEST_F(DedupRunTest, EmptyInputsGiveAnEmptyOutput) {
  files_.Write("in/a.jsonl", "");
  const auto result = Run("out", {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->documents_in, 0);
  EXPECT_THAT(result->largest, IsEmpty());
}

}  // namespace
}  // namespace trainyard::data
