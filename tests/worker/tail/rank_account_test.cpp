#include "worker/tail/rank_account.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "worker/tail/telemetry_line.h"

namespace trainyard::worker {
namespace {

// Time of reading, later than every time in the records below.
constexpr ClockReading kRead{1'000'000'000, 900'000'000};

// Returns the account after these lines of telemetry have been read in order.
RankAccount Read(const std::vector<std::string>& lines) {
  RankAccount account;
  for (const std::string& line : lines) {
    const auto record = ParseTelemetryLine(line);
    EXPECT_TRUE(record.ok()) << line << ": " << record.status();
    if (record.ok()) account.Note(*record, kRead);
  }
  return account;
}

TEST(RankAccountTest, AClockThatJumpsByADayMakesNoPhaseADayLong) {
  constexpr int64_t kDay = 86'400'000;
  const auto read = [](const std::string& line, int64_t steady_ms, RankAccount& account) {
    const auto record = ParseTelemetryLine(line);
    ASSERT_TRUE(record.ok());
    account.Note(*record, {record->time_ms(), steady_ms});
  };
  RankAccount account;
  read(R"({"type":"phase","time_ms":1000000000000,"phase":"load"})", 5'000'000, account);
  read(absl::StrCat(R"({"type":"phase","phase":"train","time_ms":)", 1'000'000'003'000 + kDay, "}"),
       5'003'000, account);
  EXPECT_EQ(account.newest().load_seconds(), 3);
}

// After a `rank` record, records of other types change only the step and the phase.
TEST(RankAccountTest, RankRecordReplacesComputedStatistics) {
  const RankAccount account = Read({
      R"({"type":"metrics","step":4,"step_seconds":9,"data_stall_seconds":9})",
      R"({"type":"rank","step":5,"step_seconds":0.5,"memory_bytes":1e9,"init_seconds":1,)"
      R"("load_seconds":2,"data_stall_seconds":3,"checkpoint_seconds":4,"evaluation_seconds":6})",
      R"({"type":"metrics","step":6,"step_seconds":7,"data_stall_seconds":8})",
      R"({"type":"phase","time_ms":1000,"phase":"eval","step":6})",
      R"({"type":"phase","time_ms":9000,"phase":"train","step":6})",
  });
  EXPECT_EQ(account.step(), 6);
  EXPECT_EQ(account.phase(), "train");
  EXPECT_EQ(account.newest().step_seconds(), 0.5);
  EXPECT_EQ(account.newest().memory_bytes(), 1'000'000'000);
  EXPECT_EQ(account.newest().init_seconds(), 1);
  EXPECT_EQ(account.newest().load_seconds(), 2);
  EXPECT_EQ(account.newest().data_stall_seconds(), 3);
  EXPECT_EQ(account.newest().checkpoint_seconds(), 4);
  EXPECT_EQ(account.newest().evaluation_seconds(), 6);
}

TEST(RankAccountTest, FlightsLastUntilTheRankWritesProgress) {
  std::vector<std::string> lines = {
      R"({"type":"rank","step":5,"compute_seconds":0.5,"tp_wait_seconds":0.25})",
      R"({"type":"flight","group":"tp0","ranks":"0-1","sequence":7})",
      R"({"type":"flight","group":"world0","ranks":"0-3","sequence":2})",
      R"({"type":"flight","group":"tp0","ranks":"0-1","sequence":8,"operation":"all-reduce"})"};
  const RankAccount still = Read(lines);
  ASSERT_EQ(still.newest().flights_size(), 2);
  EXPECT_EQ(still.newest().flights(0).sequence(), 8) << "the newest of the group";
  EXPECT_EQ(still.newest().flights(1).group(), "world0");
  EXPECT_EQ(still.newest().step_time().tp_wait(), 0.25);
  lines.push_back(R"({"type":"rank","step":6})");
  EXPECT_EQ(Read(lines).newest().flights_size(), 0);
}

TEST(RankAccountTest, AProgramMayNameAnyNumberOfGroups) {
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) {
    lines.push_back(R"({"type":"flight","group":"g)" + std::to_string(i) +
                    R"(","ranks":"0-1","sequence":1})");
  }
  EXPECT_EQ(Read(lines).newest().flights_size(), 32);
}

TEST(RankAccountTest, PhasesAreTimedWithoutRankRecords) {
  const RankAccount account = Read({
      R"({"type":"phase","time_ms":1000,"phase":"init"})",
      R"({"type":"phase","time_ms":3000,"phase":"load"})",
      R"({"type":"phase","time_ms":6000,"phase":"train"})",
      R"({"type":"metrics","step":1,"step_seconds":0.25,"data_stall_seconds":0.5})",
      R"({"type":"metrics","step":2,"step_seconds":0.5,"data_stall_seconds":0.25})",
      R"({"type":"phase","time_ms":10000,"phase":"eval","step":2})",
      R"({"type":"phase","time_ms":14000,"phase":"checkpoint","step":2})",
      R"({"type":"phase","time_ms":15000,"phase":"train","step":2})",
  });
  EXPECT_EQ(account.newest().init_seconds(), 2);
  EXPECT_EQ(account.newest().load_seconds(), 3);
  EXPECT_EQ(account.newest().evaluation_seconds(), 4);
  EXPECT_EQ(account.newest().checkpoint_seconds(), 1);
  EXPECT_EQ(account.newest().data_stall_seconds(), 0.75);
  EXPECT_EQ(account.newest().step_seconds(), 0.5);
  EXPECT_EQ(account.step(), 2);
}

TEST(RankAccountTest, BlockingSecondsAreSummedWithoutCheckpointPhases) {
  const std::string checkpoint =
      R"({"type":"checkpoint","step":1,"path":"/c","blocking_seconds":0.5})";
  EXPECT_EQ(Read({checkpoint, checkpoint}).newest().checkpoint_seconds(), 1);
}

TEST(RankAccountTest, ASaveThatIsReportedTwiceCountsOnce) {
  const RankAccount account = Read({
      R"({"type":"phase","time_ms":10000,"phase":"checkpoint"})",
      R"({"type":"checkpoint","step":1,"path":"/c","blocking_seconds":4})",
      R"({"type":"phase","time_ms":14000,"phase":"train"})",
  });
  EXPECT_EQ(account.newest().checkpoint_seconds(), 4);
}

TEST(RankAccountTest, BackwardClockNanAndNegativeNumbersAddNothing) {
  const RankAccount account = Read({
      R"({"type":"phase","time_ms":9000,"phase":"eval"})",
      R"({"type":"phase","time_ms":1000,"phase":"train"})",
      R"({"type":"metrics","step":1,"step_seconds":NaN,"data_stall_seconds":-5,)"
      R"("memory_bytes":Infinity})",
  });
  EXPECT_EQ(account.newest().evaluation_seconds(), 0);
  EXPECT_EQ(account.newest().step_seconds(), 0);
  EXPECT_EQ(account.newest().data_stall_seconds(), 0);
  // Infinity is capped, because converting it to int64 would be undefined behavior.
  EXPECT_GT(account.newest().memory_bytes(), 0);
}

}  // namespace
}  // namespace trainyard::worker
