#include "trainer/healing/heal_order.h"

#include <gmock/gmock.h>

namespace trainyard::trainer {
namespace {

TEST(HealOrderTest, ReadsAllFields) {
  const auto order = ParseHealOrder(
      R"({"generation":2,"rank":3,"master_addr":"10.0.0.7","master_port":41873,"replaced":[3,1]})");
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->generation, 2);
  EXPECT_EQ(order->rank, 3);
  EXPECT_EQ(order->master_addr, "10.0.0.7");
  EXPECT_EQ(order->master_port, 41873);
  EXPECT_THAT(order->replaced, testing::ElementsAre(3, 1));
  EXPECT_FALSE(order->done);
}

TEST(HealOrderTest, DoneNeedsNothingElse) {
  const auto order = ParseHealOrder(R"({"done": true})");
  ASSERT_TRUE(order.has_value());
  EXPECT_TRUE(order->done);
}

TEST(HealOrderTest, AnythingElseIsNoOrder) {
  for (const char* text :
       {"", "[]", "{", R"({"generation":1,"rank":0,"master_addr":"a","master_port":1})",
        R"({"generation":2,"rank":-1,"master_addr":"a","master_port":1})",
        R"({"generation":2,"rank":0,"master_addr":"","master_port":1})",
        R"({"generation":2,"rank":0,"master_addr":"a","master_port":65536})",
        R"({"generation":"2","rank":0,"master_addr":"a","master_port":1})"}) {
    EXPECT_FALSE(ParseHealOrder(text).has_value()) << text;
  }
  EXPECT_FALSE(ReadHealOrder("/no/such/file").has_value());
}

TEST(HealOrderTest, NamesNewProcesses) {
  EXPECT_EQ(ReplacedText({3}), "rank 3 is a new process");
  EXPECT_EQ(ReplacedText({1, 3}), "ranks 1, 3 are new processes");
  EXPECT_EQ(ReplacedText({}), "no process is new");
}

}  // namespace
}  // namespace trainyard::trainer
