#include "data/report/run_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/data/compressed_text.h"
#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class RunDocumentTest : public testing::Test {
 protected:
  void RunStages(int64_t block_bytes = 2000) {
    // Blank and bad lines shift the numbers of lines against those of documents.
    runs_.files().Write("in/a.jsonl", "\n" + Lines(100, 0) + "bad\n" + Lines(100, 100));
    ASSERT_EQ(
        runs_.Run(DropRed(), "a", {.block_bytes = block_bytes, .bad_lines = {.max_fraction = 1}}),
        absl::OkStatus());
    const auto inputs = FindInputFiles({runs_.out("a")});
    Stage stage = DropRed();
    stage.name = "again";
    const auto plan = PlanStage(stage, {}, *inputs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    RunSettings settings;
    settings.out = runs_.out("b");
    const RunObserver observer = {[](size_t, size_t, int64_t) {}, [](int64_t) {}};
    ASSERT_TRUE(RunStage(stage, *plan, settings, observer, runs_.cancelled()).ok());
  }

  StoredRun Read(const std::string& name) { return *ReadRun(runs_.out(name)); }

  // The field "id" of a document; -1 after an error.
  int64_t IdOf(const StoredRun& run, const std::string& name) {
    const auto document = FindRunDocument(run, name);
    EXPECT_TRUE(document.ok()) << document.status();
    if (!document.ok()) return -1;
    const auto line = ReadOutputLine(run, *document);
    EXPECT_TRUE(line.ok()) << line.status();
    return line.ok() ? nlohmann::json::parse(*line).value("id", int64_t{-1}) : -1;
  }

  // Line of in/a.jsonl, from 1.
  static int64_t LineOf(int64_t id) { return id + 2 + (id >= 100 ? 1 : 0); }
  std::string PlaceOf(int64_t id) {
    return runs_.out("in/a.jsonl") + ":" + std::to_string(LineOf(id));
  }

  StageRuns runs_;
};

TEST_F(RunDocumentTest, FindsDocumentsByNumber) {
  RunStages();
  const StoredRun run = Read("a");
  int64_t kept = 0;
  int64_t dropped = 0;
  for (int64_t id = 0; id < 200; ++id) {
    const bool is_dropped = id % 5 == 0;
    const std::string name =
        is_dropped ? "dropped:" + std::to_string(++dropped) : std::to_string(++kept);
    EXPECT_EQ(IdOf(run, name), id) << name;
  }
  EXPECT_EQ(IdOf(run, "kept:1"), 1);
}

TEST_F(RunDocumentTest, FindsDocumentsByPlace) {
  RunStages();
  const StoredRun run = Read("a");
  for (int64_t id = 0; id < 200; ++id) {
    const auto document = FindRunDocument(run, PlaceOf(id));
    ASSERT_TRUE(document.ok()) << document.status();
    EXPECT_EQ(document->is_dropped, id % 5 == 0) << id;
    EXPECT_EQ(document->number, id % 5 == 0 ? id / 5 + 1 : id - id / 5) << id;
    EXPECT_EQ(IdOf(run, PlaceOf(id)), id);
  }
  const auto text = FindRunDocument(run, runs_.out("in/b.txt"));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(text->is_dropped);
  const auto line = ReadOutputLine(run, *text);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(*line, HasSubstr("A red text"));
}

TEST_F(RunDocumentTest, FindsDocumentsByTheLinesOfParts) {
  RunStages(1 << 20);
  const StoredRun run = Read("a");
  EXPECT_EQ(IdOf(run, runs_.out("a/part-00000.jsonl.zst") + ":4"), 4);
  EXPECT_EQ(IdOf(run, runs_.out("a/dropped-00000.jsonl.zst") + ":3"), 10);
  const std::string part = runs_.out("a/part-00000.jsonl.zst") + ":";
  const int64_t last = run.records.at(0).counts.documents_out;
  EXPECT_TRUE(FindRunDocument(run, part + std::to_string(last)).ok());
  EXPECT_EQ(FindRunDocument(run, part + std::to_string(last + 1)).status().code(),
            absl::StatusCode::kNotFound);
}

// Parts are read in blocks of 1 MiB.
TEST_F(RunDocumentTest, ReadsLinesBehindTheFirstBlockOfAPart) {
  std::string lines;
  for (int id = 0; id < 3000; ++id) {
    lines += "{\"id\": " + std::to_string(id) + ", \"text\": \"" + std::string(1000, 'x') + "\"}\n";
  }
  runs_.files().Write("in/a.jsonl", lines);
  ASSERT_EQ(runs_.Run(DropRed(), "out", {.block_bytes = 16 << 20}), absl::OkStatus());
  const StoredRun run = Read("out");
  for (const int64_t id : {0, 1500, 2999}) EXPECT_EQ(IdOf(run, std::to_string(id + 1)), id);
}

TEST_F(RunDocumentTest, FollowsADocumentToItsFirstPlace) {
  RunStages();
  const StoredRun run = Read("b");
  for (const int64_t id : {1, 2, 3, 4, 6, 99, 101, 199}) {
    const auto document = FindRunDocument(run, std::to_string(id - id / 5));
    ASSERT_TRUE(document.ok()) << document.status();
    const DocumentOrigins origins = OriginsOf(run, *document);
    EXPECT_EQ(origins.problem, "");
    ASSERT_EQ(origins.origins.size(), 2u);
    EXPECT_EQ(origins.origins[0].step, "again");
    EXPECT_EQ(IdOf(Read("a"), origins.origins[0].place), id);
    EXPECT_EQ(origins.origins[1].step, "red");
    EXPECT_EQ(origins.origins[1].place, PlaceOf(id));
  }
}

TEST_F(RunDocumentTest, ReadsCompressedInputs) {
  runs_.files().Write("in/a.jsonl.gz", Gzip(Lines(200, 5000)));
  ASSERT_EQ(runs_.Run(DropRed(), "out"), absl::OkStatus());
  const StoredRun run = Read("out");
  const std::string place = runs_.out("in/a.jsonl.gz") + ":200";
  EXPECT_EQ(IdOf(run, place), 5199);
  EXPECT_EQ(OriginsOf(run, *FindRunDocument(run, place)).origins[0].place, place);
}

TEST_F(RunDocumentTest, StatesWhyTheOriginIsUnknown) {
  RunStages();
  runs_.files().Write("in/a.jsonl", "{\"text\": \"other\"}\n");
  const StoredRun run = Read("b");
  const DocumentOrigins origins = OriginsOf(run, *FindRunDocument(run, "1"));
  EXPECT_EQ(origins.origins.size(), 1u);
  EXPECT_THAT(origins.problem, HasSubstr("a.jsonl"));
}

TEST_F(RunDocumentTest, RefusesNamesWithoutADocument) {
  RunStages();
  const StoredRun run = Read("a");
  const auto message = [&](const std::string& name) {
    const absl::Status status = FindRunDocument(run, name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << name;
    return std::string(status.message());
  };
  EXPECT_THAT(message("1000"), HasSubstr("has 249 kept documents"));
  EXPECT_THAT(message("dropped:64"), HasSubstr("has 63 dropped documents"));
  EXPECT_THAT(message("0"), HasSubstr("/0 is not an input"));
  EXPECT_THAT(message(runs_.out("in/a.jsonl") + ":1"), HasSubstr("has no document in line 1"));
  EXPECT_THAT(message(runs_.out("in/a.jsonl") + ":102"), HasSubstr("has no document in line 102"));
  EXPECT_THAT(message(runs_.out("in/a.jsonl") + ":9000"), HasSubstr("behind the end"));
  EXPECT_THAT(message(runs_.out("in/none.jsonl") + ":1"), HasSubstr("is not an input"));
  EXPECT_THAT(message(runs_.out("a/part-99999.jsonl.zst") + ":1"), HasSubstr("has no part"));
}

TEST_F(RunDocumentTest, DamagedPartsAreErrors) {
  RunStages(1 << 20);
  const StoredRun run = Read("a");
  const auto document = FindRunDocument(run, "100");
  ASSERT_TRUE(document.ok());
  WriteFile(runs_.out("a/part-00000.jsonl.zst"), Zstd("{\"text\": \"one\"}\n"));
  const absl::Status status = ReadOutputLine(run, *document).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("has 1 lines"));
}

}  // namespace
}  // namespace trainyard::data
