#include "trainer/parallel/interruption/exit_deadline.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

namespace trainyard::trainer {
namespace {

using std::chrono::milliseconds;
using ::testing::ExitedWithCode;

constexpr milliseconds kShort{100};

// Simulates an object whose destructor waits forever for a device.
struct HangsInItsDestructor {
  ~HangsInItsDestructor() {
    while (true) pause();
  }
};

// Unwinds as main does. The exception handler sets the deadline, which outlives the objects whose
// destruction it limits.
void LoseAPeer() {
  std::optional<ExitDeadline> leaving;
  std::optional<HangsInItsDestructor> member;
  try {
    member.emplace();
    throw std::runtime_error("lost");
  } catch (const std::exception& error) {
    leaving.emplace(ExitCode::kPeerLost, error.what());
    leaving->Set(kShort);
    throw;
  }
}

class ExitDeadlineTest : public ::testing::Test {
 protected:
  ExitDeadlineTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ExitDeadlineTest, EndsAProcessThatHangsInADestructor) {
  const auto lose = [] {
    try {
      LoseAPeer();
    } catch (const std::exception&) {
      _exit(1);
    }
  };
  EXPECT_EXIT(lose(), ExitedWithCode(69), "trainyard-trainer: lost\n");
}

TEST_F(ExitDeadlineTest, ALaterDeadlineReplacesTheOneBefore) {
  const auto run = [] {
    ExitDeadline deadline(ExitCode::kPeerLost, "late");
    deadline.Set(std::chrono::hours(1));
    deadline.Set(kShort);
    while (true) pause();
  };
  EXPECT_EXIT(run(), ExitedWithCode(69), "late");
}

TEST_F(ExitDeadlineTest, NothingHappensBeforeIt) {
  ExitDeadline deadline(ExitCode::kPeerLost, "not reached");
  deadline.Set(kShort);
  for (int i = 0; i < 10; ++i) {
    deadline.Set(std::chrono::seconds(30));
    std::this_thread::sleep_for(kShort / 5);
  }
}

TEST_F(ExitDeadlineTest, NothingHappensAfterClear) {
  ExitDeadline deadline(ExitCode::kPeerLost, "not reached");
  deadline.Set(kShort * 10);
  deadline.Clear();
  std::this_thread::sleep_for(kShort * 12);
}

TEST_F(ExitDeadlineTest, ItsEndTakesItBack) {
  {
    ExitDeadline deadline(ExitCode::kPeerLost, "not reached");
    deadline.Set(kShort * 10);
  }
  std::this_thread::sleep_for(kShort * 12);
}

}  // namespace
}  // namespace trainyard::trainer
