#include "trainer/report/stall_watch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/parallel/run_ranks.h"

namespace trainyard::trainer {
namespace {

using Clock = StallWatch::Clock;
using Record = nlohmann::json;

LayoutConfig TwoTensorRanks() {
  LayoutConfig layout;
  layout.tp = 2;
  layout.dp = 1;
  return layout;
}

// Rank 0 of two tensor-parallel ranks. The test decides when the other rank joins an operation.
class StallWatchTest : public testing::Test {
 protected:
  StallWatchTest()
      : path_(directory_.path() + "/telemetry.jsonl"),
        writer_(path_),
        groups_(Connect(0)),
        peer_(Connect(1)) {}

  RankGroups Connect(int64_t rank) {
    const LayoutConfig layout = TwoTensorRanks();
    return ConnectRankGroups(
        Mesh(layout), rank, layout, {},
        [this](const CommunicatorGroup& group) { return network_.Connect(group); });
  }

  static Work Sum(const RankGroups& groups) { return groups.tensor->AllReduce(torch::ones({8})); }

  std::vector<Record> Lines() {
    std::vector<Record> records;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) records.push_back(Record::parse(line));
    return records;
  }

  TemporaryDirectory directory_;
  const std::string path_;
  TelemetryWriter writer_;
  InMemoryNetwork network_;
  RankGroups groups_, peer_;
};

TEST_F(StallWatchTest, TellsOnceWhereTheRankWaits) {
  StallWatch watch(groups_, writer_);
  const Clock::time_point start = Clock::now();
  Sum(groups_), Sum(peer_);
  Sum(groups_);
  watch.Look(start);
  watch.Look(start + std::chrono::seconds(4));
  EXPECT_TRUE(Lines().empty());
  watch.Look(start + std::chrono::seconds(6));
  watch.Look(start + std::chrono::seconds(60));
  const std::vector<Record> lines = Lines();
  ASSERT_EQ(lines.size(), 2u) << "one for each group of several ranks";
  const Record& tensor = lines[0]["group"] == "tp0" ? lines[0] : lines[1];
  EXPECT_EQ(tensor["type"], "flight");
  EXPECT_EQ(tensor["group"], "tp0");
  EXPECT_EQ(tensor["ranks"], "0,1");
  EXPECT_EQ(tensor["sequence"], 2);
  EXPECT_EQ(tensor["operation"], "all-reduce");
  EXPECT_EQ(tensor["bytes"], 32);
  EXPECT_GT(tensor["entered_ms"], 1'700'000'000'000);
  const Record& world = lines[0]["group"] == "tp0" ? lines[1] : lines[0];
  EXPECT_EQ(world["sequence"], 1) << "the next one";
  EXPECT_FALSE(world.contains("operation"));
  EXPECT_EQ(world["entered_ms"], 0);
}

TEST_F(StallWatchTest, TellsAgainAfterTheRankHasMoved) {
  StallWatch watch(groups_, writer_);
  const Clock::time_point start = Clock::now();
  Sum(groups_);
  watch.Look(start);
  watch.Look(start + std::chrono::seconds(6));
  Sum(peer_);
  watch.Look(start + std::chrono::seconds(7));
  watch.Look(start + std::chrono::seconds(11));
  EXPECT_EQ(Lines().size(), 2u);
  watch.Look(start + std::chrono::seconds(13));
  EXPECT_EQ(Lines().size(), 4u);
}

}  // namespace
}  // namespace trainyard::trainer
