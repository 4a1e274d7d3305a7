#include "controller/loop/loop_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

class LoopQueueTest : public testing::Test {
 protected:
  LoopQueue::Work Note(std::string name) {
    return [this, name = std::move(name)] { ran_.push_back(name); };
  }

  LoopQueue queue_;
  std::vector<std::string> ran_;
};

TEST_F(LoopQueueTest, RequestsDoNotWaitForMessages) {
  const int flooding = 0, quiet = 0;
  for (const char* name : {"f1", "f2", "f3"}) queue_.AddMessage(&flooding, Note(name));
  queue_.AddMessage(&quiet, Note("q1"));
  queue_.AddRequest(Note("r1"));
  queue_.AddRequest(Note("r2"));
  EXPECT_EQ(queue_.size(), 6u);
  while (const auto work = queue_.NextRequest()) (*work)();
  while (const auto work = queue_.NextMessage()) (*work)();
  EXPECT_THAT(ran_, ElementsAre("r1", "r2", "f1", "q1", "f2", "f3"));
}

TEST_F(LoopQueueTest, OnePassIsStartedForAllThatWaits) {
  EXPECT_TRUE(queue_.AddRequest(Note("r")));
  EXPECT_FALSE(queue_.AddMessage(this, Note("m")));
  EXPECT_FALSE(queue_.AddPass());
  queue_.NextRequest();
  EXPECT_TRUE(queue_.EndPass(false)) << "the message waits";
  EXPECT_FALSE(queue_.AddPass()) << "a pass is due";
  queue_.NextMessage();
  EXPECT_TRUE(queue_.EndPass(true));
  EXPECT_FALSE(queue_.EndPass(false));
  EXPECT_TRUE(queue_.AddPass());
}

}  // namespace
}  // namespace trainyard::controller
