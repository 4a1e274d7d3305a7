#include "controller/access/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGateToken[] = "token-of-a-test-0123456789";
constexpr char kHost[] = "10.0.0.7";
const Principal kLoginOwner{"ada", Verification::kPeerCredentials};

class SetClock final : public Clock {
 public:
  Timestamp Now() const override { return now; }
  Timestamp now = 1'000'000;
};

std::unique_ptr<SessionStore> InFile(const std::string& path) {
  return std::make_unique<FileSessionStore>(path);
}

OpenedSession Login(AccessGate& gate, const Principal& owner = kLoginOwner) {
  return gate.OpenSession(*gate.MakeCode(owner), kHost).value_or(OpenedSession());
}

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(AccessGateTest, ANewTokenEndsTheOldOneAndItsSessions) {
  const SetClock clock;
  AccessGate gate(kGateToken, clock);
  const OpenedSession session = Login(gate);
  const std::string code = *gate.MakeCode(kLoginOwner);
  gate.ReplaceToken("another-token-0123456789");
  EXPECT_FALSE(gate.TakesHeader(absl::StrCat("Bearer ", kGateToken)));
  EXPECT_TRUE(gate.TakesHeader("Bearer another-token-0123456789"));
  EXPECT_EQ(gate.UseSession(session.secret, kHost), "");
  EXPECT_FALSE(gate.OpenSession(code, kHost).has_value());
}

TEST(AccessGateTest, TakesTheTokenAlone) {
  const SetClock clock;
  const AccessGate gate(kGateToken, clock);
  EXPECT_FALSE(gate.open());
  EXPECT_TRUE(gate.TakesHeader(absl::StrCat("Bearer ", kGateToken)));
  EXPECT_TRUE(gate.TakesHeader(absl::StrCat("bearer ", kGateToken, " ")));
  for (const char* header : {"", "Bearer", "Bearer ", "Basic abc", kGateToken}) {
    EXPECT_FALSE(gate.TakesHeader(header)) << header;
  }
  EXPECT_TRUE(AccessGate("", clock).TakesHeader(""));
}

TEST(AccessGateTest, ACodeOpensOneSessionInTime) {
  SetClock clock;
  AccessGate gate(kGateToken, clock);
  const std::string code = *gate.MakeCode(kLoginOwner);
  const auto session = gate.OpenSession(code, kHost);
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(gate.UseSession(session->secret, kHost), session->id);
  EXPECT_FALSE(gate.OpenSession(code, kHost).has_value()) << "used up";
  EXPECT_FALSE(gate.OpenSession("", kHost).has_value());
  const std::string late = *gate.MakeCode();
  clock.now += AccessGate::kCodeLifeMs;
  EXPECT_FALSE(gate.OpenSession(late, kHost).has_value());
}

TEST(AccessGateTest, TheOwnerOfASessionWinsOverTheNamedUser) {
  const SetClock clock;
  AccessGate gate(kGateToken, clock);
  const OpenedSession session = Login(gate);
  const auto owner = gate.PrincipalOf(session.id, "eve");
  ASSERT_TRUE(owner.ok()) << owner.status();
  EXPECT_EQ(owner->user, "ada");
  EXPECT_EQ(owner->verification, Verification::kSession);
  for (const std::string& other : {std::string(), Login(gate, {}).id}) {
    const auto named = gate.PrincipalOf(other, "eve");
    ASSERT_TRUE(named.ok()) << named.status();
    EXPECT_EQ(named->user, "eve");
    EXPECT_EQ(named->verification, Verification::kClaim);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(gate.PrincipalOf("", std::string(129, 'x')).status()));
}

TEST(AccessGateTest, OnlyTheSecretOpensASession) {
  const SetClock clock;
  AccessGate gate(kGateToken, clock);
  const OpenedSession session = Login(gate);
  EXPECT_EQ(gate.UseSession("", kHost), "");
  EXPECT_EQ(gate.UseSession(session.id, kHost), "");
  EXPECT_EQ(gate.UseSession(session.secret + "0", kHost), "");
  EXPECT_FALSE(gate.TakesHeader(absl::StrCat("Bearer ", session.secret))) << "no token for gRPC";
}

TEST(AccessGateTest, ASessionSurvivesARestartAndEndsWithTheToken) {
  const SetClock clock;
  const std::string file = absl::StrCat(testing::TempDir(), "/gate_sessions.json");
  std::filesystem::remove(file);
  AccessGate gate(kGateToken, clock, InFile(file));
  const OpenedSession session = Login(gate);
  const auto id_with = [&](const std::string& token) {
    return AccessGate(token, clock, InFile(file)).UseSession(session.secret, kHost);
  };
  EXPECT_EQ(id_with(kGateToken), session.id);
  EXPECT_EQ(id_with("another-token-0123456789"), "");
  EXPECT_EQ(AccessGate(kGateToken, clock).UseSession(session.secret, kHost), "")
      << "without the file";
}

TEST(AccessGateTest, TheFileHoldsNoSecretAndIsForItsUserOnly) {
  const SetClock clock;
  const std::string file = absl::StrCat(testing::TempDir(), "/gate_secrets.json");
  std::filesystem::remove(file);
  AccessGate gate(kGateToken, clock, InFile(file));
  const OpenedSession session = Login(gate);
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_THAT(FileText(file), HasSubstr(session.id));
  EXPECT_THAT(FileText(file), Not(HasSubstr(session.secret)));
  EXPECT_THAT(FileText(file), Not(HasSubstr(kGateToken)));
}

TEST(AccessGateTest, AnEndedSessionStaysEndedAfterARestart) {
  const SetClock clock;
  const std::string file = absl::StrCat(testing::TempDir(), "/gate_ended.json");
  std::filesystem::remove(file);
  AccessGate gate(kGateToken, clock, InFile(file));
  const OpenedSession one = Login(gate);
  const OpenedSession two = Login(gate);
  EXPECT_EQ(gate.EndSessions({one.id, "nothing"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(gate.SessionLives(one.id)) << "all or none";
  EXPECT_EQ(*gate.EndSessions({one.id}), 1);
  EXPECT_FALSE(gate.SessionLives(one.id));
  EXPECT_EQ(gate.UseSession(one.secret, kHost), "");
  AccessGate restarted(kGateToken, clock, InFile(file));
  EXPECT_EQ(restarted.UseSession(one.secret, kHost), "");
  EXPECT_EQ(restarted.UseSession(two.secret, kHost), two.id);
  EXPECT_EQ(*restarted.EndAllSessions(), 1);
  EXPECT_EQ(AccessGate(kGateToken, clock, InFile(file)).ListSessions().sessions_size(), 0);
}

TEST(AccessGateTest, SaysWhenAnEndCouldNotBeStored) {
  const SetClock clock;
  const std::string directory = absl::StrCat(testing::TempDir(), "/gate_gone");
  std::filesystem::create_directories(directory);
  AccessGate gate(kGateToken, clock, InFile(directory + "/sessions.json"));
  const OpenedSession session = Login(gate);
  std::filesystem::remove_all(directory);
  EXPECT_EQ(gate.EndSessions({session.id}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(gate.SessionLives(session.id));
  // Login works without disk space.
  const OpenedSession other = Login(gate);
  EXPECT_TRUE(gate.SessionLives(other.id));
  std::filesystem::create_directories(directory);
  EXPECT_TRUE(gate.SaveSessions().ok());
  AccessGate restarted(kGateToken, clock, InFile(directory + "/sessions.json"));
  EXPECT_FALSE(restarted.SessionLives(session.id));
  EXPECT_TRUE(restarted.SessionLives(other.id));
}

TEST(AccessGateTest, UsesAreStoredWhenAsked) {
  SetClock clock;
  const std::string file = absl::StrCat(testing::TempDir(), "/gate_uses.json");
  std::filesystem::remove(file);
  AccessGate gate(kGateToken, clock, InFile(file));
  const OpenedSession session = Login(gate);
  clock.now += SessionTable::kIdleMs - 1;
  EXPECT_EQ(gate.UseSession(session.secret, kHost), session.id);
  ASSERT_TRUE(gate.SaveSessions().ok());
  clock.now += SessionTable::kIdleMs - 1;
  EXPECT_TRUE(AccessGate(kGateToken, clock, InFile(file)).SessionLives(session.id));
}

TEST(AccessGateTest, ADamagedFileCostsOnlyLogins) {
  const SetClock clock;
  const std::string file = absl::StrCat(testing::TempDir(), "/gate_damaged.json");
  for (const char* text : {"", "{", "[]", "{\"token_mark\": 1}", "\xff\xfe"}) {
    std::ofstream(file) << text;
    AccessGate gate(kGateToken, clock, InFile(file));
    EXPECT_EQ(gate.ListSessions().sessions_size(), 0) << text;
    EXPECT_TRUE(gate.SessionLives(Login(gate).id)) << text;
  }
}

TEST(AccessGateTest, OpenCodesAreBounded) {
  SetClock clock;
  AccessGate gate(kGateToken, clock);
  absl::Status last;
  for (int i = 0; i <= 1000; ++i) last = gate.MakeCode().status();
  EXPECT_EQ(last.code(), absl::StatusCode::kResourceExhausted);
  clock.now += AccessGate::kCodeLifeMs;
  EXPECT_TRUE(gate.MakeCode().ok());
}

}  // namespace
}  // namespace trainyard::controller
