#include "worker/core/heal_order.h"

#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

TEST(HealOrderTest, SaysThePlaceTheRendezvousAndWhoIsNew) {
  v1::HealAttempt command;
  command.set_generation(2);
  command.set_master_address("10.0.0.\"1");
  command.set_master_port(20001);
  command.add_replaced(2);
  command.add_replaced(3);
  v1::RankOrder& first = *command.add_orders();
  first.set_rank(0);
  v1::RankOrder& spare = *command.add_orders();
  spare.set_rank(8);
  spare.set_place(3);
  EXPECT_EQ(OrderText(command, 8),
            R"({"generation":2,"rank":3,"master_addr":"10.0.0.\"1","master_port":20001,)"
            R"("replaced":[2,3]})"
            "\n");
  EXPECT_NE(OrderText(command, 0).find(R"("rank":0)"), std::string::npos);
}

}  // namespace
}  // namespace trainyard::worker
