#include "controller/access/gate.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

class HandSetClock final : public Clock {
 public:
  Timestamp Now() const override { return now; }
  std::atomic<Timestamp> now = 1'000'000;
};

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";

std::string Cookie(const std::string& session) {
  return absl::StrCat("other=1; ", kSessionCookie, "=", session);
}

TEST(AccessGateTest, TakesTheTokenAlone) {
  const HandSetClock clock;
  const AccessGate gate(kToken, clock);
  EXPECT_TRUE(gate.TakesHeader(absl::StrCat("Bearer ", kToken)));
  EXPECT_TRUE(gate.TakesHeader(absl::StrCat("bearer  ", kToken, " ")));
  for (const char* header : {"", "Bearer", "Bearer ", kToken, "Basic 0123456789abcdef",
                             "Bearer 0123456789abcdef0123456789abcdee"}) {
    EXPECT_FALSE(gate.TakesHeader(header)) << header;
  }
  EXPECT_FALSE(gate.TakesCookie(""));
  EXPECT_TRUE(AccessGate("", clock).TakesHeader(""));
  EXPECT_TRUE(AccessGate("", clock).TakesCookie(""));
}

TEST(AccessGateTest, ACodeMakesOneSessionInTime) {
  HandSetClock clock;
  AccessGate gate(kToken, clock);
  const std::string code = *gate.MakeCode();
  const std::string session = gate.MakeSession(code);
  EXPECT_TRUE(gate.TakesCookie(Cookie(session)));
  EXPECT_EQ(gate.MakeSession(code), "") << "used up";
  EXPECT_EQ(gate.MakeSession(""), "");
  const std::string late = *gate.MakeCode();
  clock.now += AccessGate::kCodeLifeMs;
  EXPECT_EQ(gate.MakeSession(late), "");
}

TEST(AccessGateTest, ASessionEndsAndCannotBeMadeUp) {
  HandSetClock clock;
  AccessGate gate(kToken, clock);
  const std::string session = gate.MakeSession(*gate.MakeCode());
  EXPECT_TRUE(AccessGate(kToken, clock).TakesCookie(Cookie(session))) << "after a restart";
  EXPECT_FALSE(AccessGate("another-token-0123456789", clock).TakesCookie(Cookie(session)));
  // A later end without a new signature.
  EXPECT_FALSE(gate.TakesCookie(Cookie("9" + session)));
  clock.now += AccessGate::kSessionLifeMs;
  EXPECT_FALSE(gate.TakesCookie(Cookie(session)));
}

TEST(AccessGateTest, OpenCodesAreBounded) {
  HandSetClock clock;
  AccessGate gate(kToken, clock);
  absl::Status last;
  for (int i = 0; i <= 1000; ++i) last = gate.MakeCode().status();
  EXPECT_EQ(last.code(), absl::StatusCode::kResourceExhausted);
  clock.now += AccessGate::kCodeLifeMs;
  EXPECT_TRUE(gate.MakeCode().ok());
}

}  // namespace
}  // namespace trainyard::controller
