#include "trainer/healing/order_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

namespace trainyard::trainer {
namespace {

constexpr std::chrono::seconds kLimit{20};

class OrderWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "orders_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "order.json"; }

  void Order(int64_t generation) const {
    std::ofstream(path() + ".new")
        << R"({"rank":1,"master_addr":"a","master_port":1,"generation":)" << generation << "}";
    std::filesystem::rename(path() + ".new", path());
  }

  static bool Never() { return false; }

 private:
  std::filesystem::path folder_;
};

TEST_F(OrderWatchTest, LaterOrderInterruptsOnceAndIsTaken) {
  OrderWatch watch(path());
  Interruption& first = watch.interruption();
  EXPECT_NO_THROW(first.Check());
  Order(2);
  const auto order = watch.Await(kLimit, Never);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->generation, 2);
  EXPECT_NE(&watch.interruption(), &first);
  EXPECT_FALSE(watch.Await(std::chrono::milliseconds(0), Never).has_value()) << "taken before";
  EXPECT_NO_THROW(watch.interruption().Check());
}

TEST_F(OrderWatchTest, GivesUpOnRequest) {
  OrderWatch watch(path());
  EXPECT_FALSE(watch.Await(std::nullopt, [] { return true; }).has_value());
}

TEST(InterruptionTest, ReachesListenersOfThePastAndTheFuture) {
  Interruption interruption;
  int calls = 0;
  const auto before = interruption.Listen([&] { ++calls; });
  interruption.Listen([&] { calls += 100; }).reset();
  interruption.Check();
  interruption.Interrupt();
  interruption.Interrupt();
  EXPECT_EQ(calls, 1);
  const auto after = interruption.Listen([&] { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_ANY_THROW(interruption.Check());
}

TEST(InterruptionTest, TheFirstFunctionsRunBeforeTheOthersWhichRunAtTheSameTime) {
  Interruption interruption;
  std::latch all(3);
  bool has_begun = false;
  const auto end = [&] {
    EXPECT_TRUE(has_begun);
    all.arrive_and_wait();
  };
  const auto group = interruption.Listen(end), second = interruption.Listen(end);
  const auto first = interruption.ListenFirst([&] { has_begun = true; });
  const auto third = interruption.Listen(end);
  interruption.Interrupt();
  EXPECT_TRUE(all.try_wait());
}

TEST(InterruptionTest, ADestroyedFirstListenerIsNotCalled) {
  Interruption interruption;
  int calls = 0;
  interruption.ListenFirst([&] { ++calls; }).reset();
  interruption.Interrupt();
  EXPECT_EQ(calls, 0);
}

TEST(InterruptionTest, AWaitEndsWithItOrWithItsLimit) {
  Interruption interruption;
  interruption.WaitFor(std::chrono::milliseconds(1));
  EXPECT_NO_THROW(interruption.Check());
  std::jthread waiting([&] { interruption.WaitFor(std::chrono::hours(1)); });
  interruption.Interrupt();
}

}  // namespace
}  // namespace trainyard::trainer
