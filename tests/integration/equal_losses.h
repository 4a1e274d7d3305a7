// Compares the losses of a disturbed run with those of an undisturbed run.
#ifndef TRAINYARD_TESTS_INTEGRATION_EQUAL_LOSSES_H_
#define TRAINYARD_TESTS_INTEGRATION_EQUAL_LOSSES_H_

#include <algorithm>
#include <cstdint>
#include <map>

#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {

// Checks that both jobs have the same losses, bit for bit, up to the last step of both, which must
// be greater than `saved`.
inline void ExpectEqualLosses(const MiniCluster& cluster, int64_t job_id, int64_t undisturbed,
                              int64_t saved) {
  const std::map<int64_t, double> losses = cluster.Series(job_id, "loss");
  const std::map<int64_t, double> expected = cluster.Series(undisturbed, "loss");
  ASSERT_FALSE(losses.empty());
  ASSERT_FALSE(expected.empty());
  const int64_t last = std::min(losses.rbegin()->first, expected.rbegin()->first);
  EXPECT_GT(last, saved);
  EXPECT_EQ(std::map(losses.begin(), losses.upper_bound(last)),
            std::map(expected.begin(), expected.upper_bound(last)));
}

}  // namespace trainyard::test

#endif  // TRAINYARD_TESTS_INTEGRATION_EQUAL_LOSSES_H_
