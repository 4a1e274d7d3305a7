#include "worker/spool/fact_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/record_log.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<FactLog> OpenFacts(const std::string& path) {
  auto log = FactLog::Open(path);
  EXPECT_TRUE(log.ok()) << log.status();
  return *std::move(log);
}

// Opens the log and delivers a Welcome of a controller that has the facts up to `sequence`.
std::unique_ptr<FactLog> OpenWelcomed(const std::string& path, uint64_t sequence = 0) {
  auto log = OpenFacts(path);
  EXPECT_TRUE(log->Reconcile(sequence).ok());
  return log;
}

v1::Fact Cleared(int64_t job) {
  v1::Fact fact;
  fact.mutable_attempt_cleared()->set_job_id(job);
  fact.mutable_attempt_cleared()->set_attempt(1);
  return fact;
}

// Returns an exit fact with a long output tail, as after the failure of a rank.
v1::Fact Exited(int64_t job) {
  v1::Fact fact;
  fact.mutable_rank_exited()->set_job_id(job);
  fact.mutable_rank_exited()->set_log_tail(std::string(8000, 'x'));
  return fact;
}

void MustAppend(FactLog& log, v1::Fact fact) { ASSERT_TRUE(log.Append(std::move(fact)).ok()); }

std::vector<uint64_t> Numbers(const FactLog& log) {
  std::vector<uint64_t> numbers;
  for (const v1::Fact& fact : log.facts()) numbers.push_back(fact.sequence());
  return numbers;
}

bool Never(const v1::Fact&) { return false; }

TEST(FactLogTest, NumbersFromOneAndGoesOnAfterReopening) {
  TemporaryDir dir;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    EXPECT_EQ(log->last_sequence(), 0u);
    MustAppend(*log, Cleared(1));
    MustAppend(*log, Cleared(2));
  }
  auto log = OpenWelcomed(dir.File("facts"));
  EXPECT_EQ(log->last_sequence(), 2u);
  MustAppend(*log, Cleared(3));
  EXPECT_THAT(Numbers(*log), ElementsAre(1, 2, 3));
  EXPECT_EQ(log->After(0)->attempt_cleared().job_id(), 1);
  EXPECT_EQ(log->After(2)->attempt_cleared().job_id(), 3);
  EXPECT_EQ(log->After(3), nullptr);
}

TEST(FactLogTest, TornFactGivesItsNumberBack) {
  TemporaryDir dir;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    MustAppend(*log, Cleared(1));
    MustAppend(*log, Cleared(2));
  }
  const std::string whole = ReadText(dir.File("facts"));
  WriteText(dir.File("facts"), whole.substr(0, whole.size() - 1));
  auto log = OpenWelcomed(dir.File("facts"));
  EXPECT_GT(log->dropped_bytes(), 0);
  MustAppend(*log, Cleared(9));
  EXPECT_THAT(Numbers(*log), ElementsAre(1, 2));
  EXPECT_EQ(log->After(1)->attempt_cleared().job_id(), 9);
}

TEST(FactLogTest, CompactKeepsWhatIsUnacknowledgedOrNeeded) {
  TemporaryDir dir;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    for (int64_t job = 1; job <= 20; ++job) MustAppend(*log, Exited(job));
    log->Acknowledge(18);
    const auto needed = [](const v1::Fact& fact) { return fact.rank_exited().job_id() == 5; };
    ASSERT_TRUE(log->Compact(needed).ok());
    EXPECT_THAT(Numbers(*log), ElementsAre(5, 19, 20));
  }
  EXPECT_LT(ReadText(dir.File("facts")).size(), 30000u);
  auto log = OpenFacts(dir.File("facts"));
  EXPECT_THAT(Numbers(*log), ElementsAre(5, 19, 20));
  EXPECT_EQ(log->last_sequence(), 20u);
}

TEST(FactLogTest, CountSurvivesACompactionThatDropsEverything) {
  TemporaryDir dir;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    for (int64_t job = 1; job <= 10; ++job) MustAppend(*log, Exited(job));
    log->Acknowledge(10);
    ASSERT_TRUE(log->Compact(Never).ok());
    EXPECT_THAT(log->facts(), IsEmpty());
  }
  auto log = OpenWelcomed(dir.File("facts"), 10);
  MustAppend(*log, Cleared(1));
  EXPECT_THAT(Numbers(*log), ElementsAre(11));
}

TEST(FactLogTest, SmallFileIsNotRewritten) {
  TemporaryDir dir;
  auto log = OpenWelcomed(dir.File("facts"));
  MustAppend(*log, Cleared(1));
  log->Acknowledge(1);
  ASSERT_TRUE(log->Compact(Never).ok());
  EXPECT_THAT(Numbers(*log), ElementsAre(1));
}

TEST(FactLogTest, AcknowledgeNeverGoesBackOrBeyond) {
  TemporaryDir dir;
  auto log = OpenWelcomed(dir.File("facts"));
  for (int64_t job = 1; job <= 3; ++job) MustAppend(*log, Cleared(job));
  log->Acknowledge(2);
  log->Acknowledge(1);
  EXPECT_EQ(log->acknowledged(), 2u);
  log->Acknowledge(99);
  EXPECT_EQ(log->acknowledged(), 3u);
}

TEST(FactLogTest, ReconcileWithTheUsualControllerChangesNoNumber) {
  TemporaryDir dir;
  auto log = OpenWelcomed(dir.File("facts"));
  for (int64_t job = 1; job <= 3; ++job) MustAppend(*log, Cleared(job));
  for (const uint64_t sequence : {0u, 2u, 3u}) {
    ASSERT_TRUE(log->Reconcile(sequence).ok());
    EXPECT_THAT(Numbers(*log), ElementsAre(1, 2, 3));
    EXPECT_EQ(log->acknowledged(), sequence);
  }
}

TEST(FactLogTest, LostFileContinuesBehindWhatTheControllerHas) {
  TemporaryDir dir;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    MustAppend(*log, Cleared(1));
    MustAppend(*log, Cleared(2));
    ASSERT_TRUE(log->Reconcile(40).ok());
    EXPECT_THAT(Numbers(*log), ElementsAre(41, 42));
  }
  auto log = OpenWelcomed(dir.File("facts"), 40);
  EXPECT_THAT(Numbers(*log), ElementsAre(41, 42));
  MustAppend(*log, Cleared(3));
  EXPECT_EQ(log->last_sequence(), 43u);
}

// If a new fact had a number that the controller knows, the controller would mistake the new fact
// for the known fact and never store it.
TEST(FactLogTest, FactsBeforeTheWelcomeGetNoNumberThatTheControllerKnows) {
  for (const bool all_lost : {false, true}) {
    TemporaryDir dir;
    std::string first_two;
    {
      auto log = OpenWelcomed(dir.File("facts"));
      for (int64_t job = 1; job <= 5; ++job) {
        MustAppend(*log, Cleared(job));
        if (job == 2) first_two = ReadText(dir.File("facts"));
      }
    }
    WriteText(dir.File("facts"), all_lost ? "" : first_two);
    {
      auto log = OpenFacts(dir.File("facts"));
      for (int64_t job = 6; job <= 8; ++job) MustAppend(*log, Cleared(job));
    }
    auto log = OpenFacts(dir.File("facts"));
    MustAppend(*log, Cleared(9));
    ASSERT_TRUE(log->Reconcile(5).ok());
    EXPECT_EQ(log->unacknowledged(), 4);
    EXPECT_EQ(log->After(5)->sequence(), 6u);
    EXPECT_EQ(log->After(5)->attempt_cleared().job_id(), 6);
    EXPECT_EQ(log->After(8)->attempt_cleared().job_id(), 9);
  }
}

// The fact in the middle is lost. Later facts are renumbered without a gap.
TEST(FactLogTest, ADamagedFileGoesOnWithTheFactsThatAreWhole) {
  TemporaryDir dir;
  std::string text;
  {
    auto log = OpenWelcomed(dir.File("facts"));
    for (int64_t job = 1; job <= 3; ++job) {
      if (job == 2) text = ReadText(dir.File("facts"));
      MustAppend(*log, Cleared(job));
    }
  }
  std::string damaged = ReadText(dir.File("facts"));
  damaged[text.size() + 12] ^= 1;
  WriteText(dir.File("facts"), damaged);
  auto log = OpenFacts(dir.File("facts"));
  EXPECT_THAT(log->damage(), HasSubstr(dir.File("facts.damaged")));
  ASSERT_TRUE(log->Reconcile(1).ok());
  EXPECT_THAT(Numbers(*log), ElementsAre(1, 2));
  EXPECT_EQ(log->After(1)->attempt_cleared().job_id(), 3);
}

TEST(FactLogTest, NumbersThatCouldNotBeWrittenDownAreWrittenBeforeTheNextFact) {
  TemporaryDir dir;
  const std::string in_the_way = dir.File("facts.tmp");
  {
    auto log = OpenWelcomed(dir.File("facts"));
    for (int64_t job = 1; job <= 5; ++job) MustAppend(*log, Cleared(job));
    std::filesystem::create_directory(in_the_way);
    // The controller has facts up to number 1000, which this log never wrote or has lost. All
    // retained facts must get higher numbers, but a directory with the name of the new file
    // prevents rewriting.
    log->Acknowledge(4);
    EXPECT_FALSE(log->Reconcile(1'000).ok());
    EXPECT_THAT(Numbers(*log), ElementsAre(1001, 1002, 1003, 1004, 1005));
    EXPECT_FALSE(log->Append(Cleared(6)).ok()) << "it would not be in order";
    EXPECT_FALSE(log->Reconcile(3).ok());
    std::filesystem::remove(in_the_way);
    MustAppend(*log, Cleared(6));
  }
  auto log = OpenFacts(dir.File("facts"));
  const std::vector<uint64_t> numbers = Numbers(*log);
  EXPECT_THAT(numbers, testing::SizeIs(6));
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(log->last_sequence(), numbers.back());
}

TEST(FactLogTest, ControllerFromAnOlderCopyGetsNoHole) {
  TemporaryDir dir;
  auto log = OpenWelcomed(dir.File("facts"));
  for (int64_t job = 1; job <= 20; ++job) MustAppend(*log, Exited(job));
  log->Acknowledge(19);
  const auto needed = [](const v1::Fact& fact) { return fact.rank_exited().job_id() == 15; };
  ASSERT_TRUE(log->Compact(needed).ok());
  ASSERT_TRUE(log->Reconcile(10).ok());
  EXPECT_THAT(Numbers(*log), ElementsAre(11, 12));
  EXPECT_EQ(log->After(10)->rank_exited().job_id(), 15);
  EXPECT_EQ(log->After(11)->rank_exited().job_id(), 20);
}

TEST(FactLogTest, FileOfAnotherKindIsRefused) {
  TemporaryDir dir;
  {
    auto records = RecordLog::Open(dir.File("facts"));
    ASSERT_TRUE(records.ok());
    ASSERT_TRUE((*records)->Append("no fact").ok());
  }
  EXPECT_TRUE(absl::IsDataLoss(FactLog::Open(dir.File("facts")).status()));
}

}  // namespace
}  // namespace trainyard::worker
