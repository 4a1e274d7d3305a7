// Attempts whose processes run several ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;

TEST(LauncherAttemptsTest, ALauncherIsOneProcessAndReportsAllOfItsRanks) {
  Attempts attempts;
  EXPECT_THAT(Text(attempts.Start(LauncherOf(1, 1, 3), 0)),
              ElementsAre("create 1/1", "attempt 1/1", "spawn 1/1/0"));
  const Actions started = attempts.RankSpawned(Rank(1, 1, 0), 100, 5);
  ASSERT_THAT(Text(started), ElementsAre("started 1/1/0"));
  EXPECT_THAT(std::get<RecordFact>(started[0]).fact.rank_started().further_ranks(),
              ElementsAre(1, 2));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1: 0 running 1 running 2 running"));
  std::vector<std::string> views;
  for (const RankView& view : attempts.Ranks()) {
    views.push_back(absl::StrCat(view.key.rank, " on ", view.slot, " ", view.state,
                                 view.is_first ? " first" : ""));
  }
  EXPECT_THAT(views, ElementsAre("0 on 0 running first", "1 on 1 running", "2 on 2 running"));
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1000), 10)), ElementsAre("term 1/1/0"));
  const Actions ended = attempts.RankEnded(ExitOf(1, 1, 0, 7));
  ASSERT_THAT(Text(ended), ElementsAre("exited 1/1/0 7"));
  EXPECT_THAT(std::get<RecordFact>(ended[0]).fact.rank_exited().further_ranks(), ElementsAre(1, 2));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
}

TEST(LauncherAttemptsTest, ARestoredLauncherIsResolvedByItsFirstRank) {
  Attempts attempts;
  attempts.Restore({}, {LauncherOf(1, 1, 2)}, {});
  EXPECT_THAT(attempts.RanksToObserve(), ElementsAre(Rank(1, 1, 0)));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1: 0 running 1 running"));
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("spawn 1/1/0"));
}

TEST(LauncherAttemptsTest, AFolderThatCannotBeMadeEndsAllRanksOfALauncher) {
  Attempts attempts;
  attempts.Start(LauncherOf(1, 1, 2), 0);
  const Actions actions = attempts.CreationFailed({1, 1}, "no space", v1::START_FAULT_NODE, 5);
  ASSERT_THAT(Text(actions), ElementsAre("exited 1/1/0 127", "cleared 1/1"));
  EXPECT_THAT(std::get<RecordFact>(actions[0]).fact.rank_exited().further_ranks(), ElementsAre(1));
}

}  // namespace
}  // namespace trainyard::worker
