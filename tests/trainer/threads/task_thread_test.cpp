#include "trainer/threads/task_thread.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace trainyard::trainer {
namespace {

TEST(TaskThreadTest, RunsTasksInTheirOrder) {
  std::vector<int> order;
  TaskThread thread;
  std::future<void> last;
  for (int i = 0; i < 100; ++i) last = thread.Add([&order, i] { order.push_back(i); });
  last.get();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(TaskThreadTest, HandsOverAnExceptionAndGoesOn) {
  TaskThread thread;
  std::future<void> failing = thread.Add([] { throw std::runtime_error("no"); });
  std::future<void> next = thread.Add([] {});
  EXPECT_THROW(failing.get(), std::runtime_error);
  EXPECT_NO_THROW(next.get());
}

TEST(TaskThreadTest, RunsWhatIsQueuedBeforeItEnds) {
  int runs = 0;
  {
    TaskThread thread;
    for (int i = 0; i < 10; ++i) thread.Add([&runs] { ++runs; });
  }
  EXPECT_EQ(runs, 10);
}

}  // namespace
}  // namespace trainyard::trainer
