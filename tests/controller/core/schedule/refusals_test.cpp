#include "controller/core/schedule/refusals.h"

#include <optional>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

JobClass ClassOfUser(const char* user) { return {.kind = v1::DEVICE_KIND_CPU, .user = user}; }

TEST(RefusalsTest, FindsTheRefusalOfEachClass) {
  Refusals refusals;
  EXPECT_EQ(refusals.Find(ClassOfUser("ada")), std::nullopt);
  refusals.Add(ClassOfUser("ada"), Refusal::kHead);
  refusals.Add(ClassOfUser("grace"), Refusal::kQuota);
  EXPECT_EQ(refusals.size(), 2U);
  EXPECT_EQ(refusals.Find(ClassOfUser("ada")), Refusal::kHead);
  EXPECT_EQ(refusals.Find(ClassOfUser("grace")), Refusal::kQuota);
  EXPECT_EQ(refusals.Find(ClassOfUser("bob")), std::nullopt) << "between the two";
  EXPECT_EQ(refusals.Find(ClassOfUser("zoe")), std::nullopt) << "behind the last";
}

}  // namespace
}  // namespace trainyard::controller
