// Tests the texts that a leader leaves for standbys and for the next leader.
#include "controller/store/postgres/postgres_leader_notes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "controller/store/postgres/leadership.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

class LeaderNotesTest : public PostgresFixture {
 protected:
  void SetUp() override {
    PostgresFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(MigrateEvents(*Connect()).ok());
  }

  // Begins a term. The session ends with the result.
  std::unique_ptr<Leadership> Lead(const std::string& holder) const {
    auto leader = Leadership::Open(settings(), holder);
    EXPECT_TRUE(leader.ok()) << leader.status();
    EXPECT_TRUE((*leader)->Step().ok());
    return *std::move(leader);
  }
};

TEST_F(LeaderNotesTest, TheNextLeaderReadsAndReplacesANote) {
  {
    const auto first = Lead("first");
    PostgresLeaderNotes notes(settings(), first->term());
    EXPECT_TRUE(absl::IsNotFound(notes.Read(kSessionsNote).status()));
    ASSERT_TRUE(notes.Write(kSessionsNote, "one").ok());
    ASSERT_TRUE(notes.Write(kSessionsNote, std::string("two\0", 4)).ok());
  }
  // A controller at the address of the leader takes over at once.
  const auto second = Lead("first");
  ASSERT_EQ(second->term(), 2);
  PostgresLeaderNotes notes(settings(), second->term());
  EXPECT_EQ(*notes.Read(kSessionsNote), std::string("two\0", 4));
  EXPECT_TRUE(notes.Write(kSessionsNote, "three").ok());
}

TEST_F(LeaderNotesTest, AFormerLeaderWritesNothing) {
  const auto leader = Lead("first");
  PostgresLeaderNotes notes(settings(), leader->term());
  ASSERT_TRUE(notes.Write(kSessionsNote, "one").ok());
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET term = 2").ok());
  EXPECT_TRUE(absl::IsAborted(notes.Write(kSessionsNote, "two")));
  EXPECT_EQ(*notes.Read(kSessionsNote), "one");
}

TEST_F(LeaderNotesTest, AnEndedSessionIsReplaced) {
  const auto leader = Lead("first");
  PostgresLeaderNotes notes(settings(), leader->term());
  ASSERT_TRUE(notes.Write(kSessionsNote, "one").ok());
  ASSERT_TRUE(Connect()
                  ->RunScript("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query "
                              "LIKE '%leader_note%' AND pid <> pg_backend_pid()")
                  .ok());
  EXPECT_TRUE(notes.Write(kSessionsNote, "two").ok());
  EXPECT_EQ(*notes.Read(kSessionsNote), "two");
}

TEST_F(LeaderNotesTest, AStandbyContinuesAConfirmedLog) {
  auto leader = Lead("first");
  const auto standby = *Leadership::Open(settings(), "second");
  ASSERT_TRUE(standby->Step().ok());
  PostgresLeaderNotes notes(settings(), leader->term());
  ASSERT_TRUE(notes.Write(kConfirmedNote, "confirmed").ok());
  ASSERT_TRUE(standby->Step().ok());
  leader = nullptr;
  while (standby->term() == 0) ASSERT_TRUE(standby->Step().ok());
  EXPECT_EQ(standby->term(), 2);
  EXPECT_TRUE(standby->ContinuesLog());
}

TEST_F(LeaderNotesTest, StandbysSeeThePageOfThePresentLeaderOnly) {
  const auto leader = Lead("first");
  const auto standby = *Leadership::Open(settings(), "second");
  ASSERT_TRUE(standby->Step().ok());
  EXPECT_EQ(standby->leader_page(), "");
  PostgresLeaderNotes notes(settings(), leader->term());
  ASSERT_TRUE(notes.Write(kPageNote, "10.0.0.1:7071").ok());
  ASSERT_TRUE(standby->Step().ok());
  EXPECT_EQ(standby->leader_page(), "10.0.0.1:7071");
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET term = 2, holder = 'third'").ok());
  ASSERT_TRUE(standby->Step().ok());
  EXPECT_EQ(standby->leader(), "third");
  EXPECT_EQ(standby->leader_page(), "") << "the address of an earlier leader";
}

}  // namespace
}  // namespace trainyard::controller
