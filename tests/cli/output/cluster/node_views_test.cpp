// Tests parts of `node describe` that depend only on the node.
#include "cli/output/cluster/node_views.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

v1::Node NodeWith(int cpus, int64_t gib) {
  v1::Node node;
  node.set_name("gpu-1");
  node.mutable_inventory()->set_cpu_cores(64);
  node.mutable_inventory()->set_memory_bytes(int64_t{256} << 30);
  for (int i = 0; i < 2; ++i) {
    node.mutable_inventory()->add_slots();
    v1::SlotUse& use = *node.add_slot_uses();
    use.set_job_id(7);
    use.set_requested_cpus(cpus);
    use.set_requested_memory_bytes(gib << 30);
  }
  return node;
}

TEST(NodeViewsTest, ShowsTheRequestsOfRanks) {
  const std::string requests = NodeText(NodeWith(8, 50), {}, 1000);
  EXPECT_THAT(requests, HasSubstr("  Cores       64 (16 requested by ranks)\n"));
  EXPECT_THAT(requests, HasSubstr("  Memory      256.0 GiB (100.0 GiB requested by ranks)\n"));
  const std::string none = NodeText(NodeWith(0, 0), {}, 1000);
  EXPECT_THAT(none, HasSubstr("  Cores       64\n  Memory      256.0 GiB\n"));
}

}  // namespace
}  // namespace trainyard::cli
