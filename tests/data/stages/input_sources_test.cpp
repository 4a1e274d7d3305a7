#include "data/stages/input_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

TEST(InputSourcesTest, GroupsFilesByDirectoryAndNamesTheirRun) {
  const StageRuns runs;
  ASSERT_EQ(runs.Run(DropRed(), "kept"), absl::OkStatus());
  const auto files = FindInputFiles({runs.out("in"), runs.out("kept")});
  ASSERT_TRUE(files.ok()) << files.status();
  const std::vector<InputSource> sources = SourcesOf(*files);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].directory, runs.out("in"));
  EXPECT_EQ(sources[0].plan, "");
  EXPECT_EQ(sources[0].files, 6);
  EXPECT_EQ(sources[1].directory, runs.out("kept"));
  EXPECT_EQ(sources[1].plan, runs.MakePlan(DropRed())->Hash());
  EXPECT_EQ(SourcesJson(sources)[1]["plan"], sources[1].plan);
  EXPECT_FALSE(SourcesJson(sources)[0].contains("plan"));
}

TEST(InputSourcesTest, AddsUpTheLastOnesOfManyDirectories) {
  std::vector<InputSource> sources(kSourcesListed + 3);
  for (InputSource& source : sources) source = {"d", "", 2, 10};
  const nlohmann::ordered_json json = SourcesJson(sources);
  ASSERT_EQ(json.size(), kSourcesListed + 1);
  EXPECT_EQ(json.back(), nlohmann::ordered_json({{"directories", 3}, {"files", 6}, {"bytes", 30}}));
}

TEST(InputSourcesTest, RelativePathsNeedTheWorkingDirectory) {
  EXPECT_EQ(WorkingDirectoryFor({{"/a/b.txt"}}), "");
  EXPECT_EQ(WorkingDirectoryFor({{"/a/b.txt"}, {"b.txt"}}),
            std::filesystem::current_path().string());
  EXPECT_EQ(SourcesOf({{"b.txt"}})[0].directory, ".");
}

}  // namespace
}  // namespace trainyard::data
