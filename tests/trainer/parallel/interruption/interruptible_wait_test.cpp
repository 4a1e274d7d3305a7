#include "trainer/parallel/interruption/interruptible_wait.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace trainyard::trainer {
namespace {

// Work that completes right after a poll has timed out. If `error` is set, the work fails with it.
class LateWork final : public c10d::Work {
 public:
  explicit LateWork(std::string error = "") : error_(std::move(error)) {}

  bool isCompleted() override { return ended_; }

  bool wait(std::chrono::milliseconds limit) override {
    if (limit != kNoTimeout && !ended_) {
      ended_ = true;
      throw std::runtime_error("Operation timed out!");
    }
    if (!error_.empty()) throw std::runtime_error(error_);
    return true;
  }

 private:
  std::string error_;
  bool ended_ = false;
};

// Work that never ends during the test. It sets `aborted` during the second poll.
class EndlessWork final : public c10d::Work {
 public:
  explicit EndlessWork(std::atomic<bool>* aborted) : aborted_(aborted) {}

  bool isCompleted() override { return false; }

  bool wait(std::chrono::milliseconds) override {
    if (++looks_ == 2) *aborted_ = true;
    throw std::runtime_error("Operation timed out!");
  }

  int looks() const { return looks_; }

 private:
  std::atomic<bool>* aborted_;
  int looks_ = 0;
};

TEST(InterruptibleWaitTest, WorkThatEndsJustAfterALookHasEndedWell) {
  LateWork work;
  std::atomic<bool> aborted{false};
  EXPECT_TRUE(WaitUnlessAborted(work, aborted));
}

TEST(InterruptibleWaitTest, TheErrorIsThatOfTheWork) {
  LateWork work("a peer closed its connection");
  std::atomic<bool> aborted{false};
  try {
    WaitUnlessAborted(work, aborted);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a peer closed its connection");
  }
}

TEST(InterruptibleWaitTest, AnAbortEndsTheWait) {
  std::atomic<bool> aborted{false};
  EndlessWork work(&aborted);
  EXPECT_FALSE(WaitUnlessAborted(work, aborted));
  EXPECT_EQ(work.looks(), 2);
}

}  // namespace
}  // namespace trainyard::trainer
