#include "controller/access/session_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "nlohmann/json.hpp"

namespace trainyard::controller {
namespace {

constexpr Timestamp kStart = 1'000'000;
constexpr char kMark[] = "mark";
const Principal kAda{"ada", Verification::kPeerCredentials};

TEST(SessionTableTest, ASessionLastsWhileItIsUsedUpToABound) {
  SessionTable table;
  const OpenedSession session = table.Open(kAda, "a", kStart);
  Timestamp now = kStart;
  while (now + SessionTable::kIdleMs - 1 < kStart + SessionTable::kMaxMs) {
    now += SessionTable::kIdleMs - 1;
    ASSERT_EQ(table.Use(session.secret, "a", now), session.id);
  }
  EXPECT_TRUE(table.Lives(session.id, kStart + SessionTable::kMaxMs - 1));
  EXPECT_EQ(table.Use(session.secret, "a", kStart + SessionTable::kMaxMs), "");
  EXPECT_FALSE(table.Lives(session.id, kStart + SessionTable::kMaxMs));
}

TEST(SessionTableTest, ASessionThatIsNotUsedEnds) {
  SessionTable table;
  const OpenedSession session = table.Open(kAda, "a", kStart);
  EXPECT_TRUE(table.Lives(session.id, kStart + SessionTable::kIdleMs - 1));
  EXPECT_EQ(table.Use(session.secret, "a", kStart + SessionTable::kIdleMs), "");
  EXPECT_TRUE(table.List(kStart + SessionTable::kIdleMs).empty());
  EXPECT_EQ(table.EndAll(kStart + SessionTable::kIdleMs), 0);
}

TEST(SessionTableTest, ListsWhoWhenAndFromWhere) {
  SessionTable table;
  table.Open(kAda, "a", kStart);
  const OpenedSession second = table.Open({"bob"}, "b", kStart + 1);
  table.Use(second.secret, "c", kStart + 5);
  const std::vector<v1::Session> sessions = table.List(kStart + 9);
  ASSERT_EQ(sessions.size(), 2u);
  const v1::Session& newest = sessions.front();
  EXPECT_EQ(newest.id(), second.id);
  EXPECT_EQ(newest.user(), "bob");
  EXPECT_FALSE(newest.user_verified());
  EXPECT_EQ(newest.opened_ms(), kStart + 1);
  EXPECT_EQ(newest.used_ms(), kStart + 5);
  EXPECT_EQ(newest.expires_ms(), kStart + 5 + SessionTable::kIdleMs);
  EXPECT_EQ(newest.address(), "c");
  EXPECT_TRUE(sessions.back().user_verified());
  EXPECT_EQ(table.OwnerOf(second.id).user, "bob");
  EXPECT_EQ(table.OwnerOf(second.id).verification, Verification::kClaim);
  EXPECT_EQ(table.OwnerOf(sessions.back().id()).verification, Verification::kSession);
  EXPECT_EQ(table.OwnerOf("").user, "");
}

TEST(SessionTableTest, TheNumberIsBoundedByTheLeastUsed) {
  SessionTable table;
  const OpenedSession first = table.Open(kAda, "a", kStart);
  const OpenedSession second = table.Open(kAda, "a", kStart + 1);
  for (std::size_t i = 2; i < SessionTable::kMost; ++i) {
    table.Open(kAda, "a", kStart + 2);
  }
  table.Use(first.secret, "a", kStart + 3);
  table.Open(kAda, "a", kStart + 4);
  EXPECT_EQ(table.List(kStart + 4).size(), SessionTable::kMost);
  EXPECT_TRUE(table.Lives(first.id, kStart + 4));
  EXPECT_FALSE(table.Lives(second.id, kStart + 4));
}

TEST(SessionTableTest, ReadsItsOwnText) {
  SessionTable table;
  const OpenedSession session =
      table.Open({"ada\xff", Verification::kSession}, std::string(999, 'x'), kStart);
  const std::string text = table.Text(kMark, kStart);
  SessionTable read;
  ASSERT_TRUE(read.Read(text, kMark, kStart).ok());
  EXPECT_EQ(read.List(kStart)[0].SerializeAsString(), table.List(kStart)[0].SerializeAsString());
  EXPECT_EQ(read.Use(session.secret, "b", kStart), session.id);
  ASSERT_TRUE(read.Read(text, "another mark", kStart).ok());
  EXPECT_TRUE(read.List(kStart).empty());
  ASSERT_TRUE(read.Read(text, kMark, kStart + SessionTable::kIdleMs).ok());
  EXPECT_TRUE(read.List(kStart).empty()) << "expired while the controller was stopped";
}

TEST(SessionTableTest, SurvivesDamagedText) {
  SessionTable table;
  table.Open(kAda, "a", kStart);
  nlohmann::json json = nlohmann::json::parse(table.Text(kMark, kStart));
  json["sessions"][0]["opened_ms"] = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(table.Read(json.dump(), kMark, kStart).ok());
  json["sessions"][0].erase("hash");
  EXPECT_EQ(table.Read(json.dump(), kMark, kStart).code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(table.List(kStart).empty());
}

}  // namespace
}  // namespace trainyard::controller
