#include "data/report/source_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::Pair;

class SourceTracerTest : public testing::Test {
 protected:
  SourceTracerTest() {
    files_.Write("web/a.jsonl", Lines(10, 0));
    files_.Write("web/b.jsonl", Lines(5, 10));
    files_.Write("code/c.jsonl", Lines(20, 100));
  }

  void RunStageOn(const std::vector<std::string>& inputs, const std::string& out) {
    std::vector<std::string> paths;
    for (const std::string& input : inputs) paths.push_back(files_ / input);
    const auto found = FindInputFiles(paths);
    ASSERT_TRUE(found.ok()) << found.status();
    const auto plan = PlanStage(DropRed(), {}, *found);
    ASSERT_TRUE(plan.ok()) << plan.status();
    RunSettings settings;
    settings.out = files_ / out;
    const RunObserver observer = {[](size_t, size_t, int64_t) {}, [](int64_t) {}};
    const std::atomic<bool> cancelled = false;
    const auto status = RunStage(DropRed(), *plan, settings, observer, cancelled).status();
    ASSERT_TRUE(status.ok()) << status;
  }

  // The sources of the input of a run, by the names of their directories.
  std::vector<std::pair<std::string, int64_t>> SourcesOfRun(const std::string& directory) {
    const auto run = ReadRun(files_ / directory);
    EXPECT_TRUE(run.ok()) << run.status();
    SourceTracer tracer;
    std::vector<std::pair<std::string, int64_t>> sources;
    for (const auto& [block, record] : run->records) {
      for (const SourceStretch& stretch : tracer.OfBlock(run->plan, record)) {
        const std::filesystem::path path = tracer.directories()[stretch.source];
        sources.emplace_back(path.filename().string(), stretch.documents);
      }
    }
    return sources;
  }

  const TextDirectory files_;
};

TEST_F(SourceTracerTest, FilesOfADirectoryAreOneSource) {
  RunStageOn({"code", "web"}, "kept");
  EXPECT_THAT(SourcesOfRun("kept"), ElementsAre(Pair("code", 20), Pair("web", 15)));
}

// The first of every 5 lines is dropped.
TEST_F(SourceTracerTest, FollowsKeptAndDroppedDocuments) {
  RunStageOn({"code", "web"}, "kept");
  RunStageOn({"kept"}, "again");
  EXPECT_THAT(SourcesOfRun("again"), ElementsAre(Pair("code", 16), Pair("web", 12)));
  for (const auto& entry : std::filesystem::directory_iterator(files_ / "kept")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("dropped-")) RunStageOn({"kept/" + name}, "of-dropped");
  }
  EXPECT_THAT(SourcesOfRun("of-dropped"), ElementsAre(Pair("code", 4), Pair("web", 3)));
}

TEST_F(SourceTracerTest, ARunThatCannotBeReadIsItsOwnSource) {
  RunStageOn({"code", "web"}, "kept");
  RunStageOn({"kept"}, "again");
  files_.Write("kept/plan.json", "damaged");
  EXPECT_THAT(SourcesOfRun("again"), ElementsAre(Pair("kept", 28)));
}

}  // namespace
}  // namespace trainyard::data
