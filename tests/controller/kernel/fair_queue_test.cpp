#include "controller/kernel/fair_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::controller {
namespace {

using testing::ElementsAre;

std::vector<std::string> PopAll(FairQueue<int, std::string>& queue) {
  std::vector<std::string> items;
  while (!queue.empty()) items.push_back(queue.Pop());
  return items;
}

TEST(FairQueueTest, SourcesTakeTurnsAndKeepTheirOrder) {
  FairQueue<int, std::string> queue;
  for (const char* item : {"a1", "a2", "a3"}) queue.Push(1, item);
  queue.Push(2, "b1");
  queue.Push(3, "c1");
  queue.Push(3, "c2");
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_THAT(PopAll(queue), ElementsAre("a1", "b1", "c1", "a2", "c2", "a3"));
}

TEST(FairQueueTest, AFloodDelaysAnotherSourceByOneItem) {
  FairQueue<int, std::string> queue;
  for (int i = 0; i < 10'000; ++i) queue.Push(1, "flood");
  queue.Pop();
  queue.Push(2, "heartbeat");
  EXPECT_EQ(queue.Pop(), "flood");
  EXPECT_EQ(queue.Pop(), "heartbeat");
}

TEST(FairQueueTest, ASourceThatWasEmptyComesBackAtTheEnd) {
  FairQueue<int, std::string> queue;
  queue.Push(1, "a1");
  EXPECT_THAT(PopAll(queue), ElementsAre("a1"));
  queue.Push(2, "b1");
  queue.Push(1, "a2");
  EXPECT_THAT(PopAll(queue), ElementsAre("b1", "a2"));
}

}  // namespace
}  // namespace trainyard::controller
