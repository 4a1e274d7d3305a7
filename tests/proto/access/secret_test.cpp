#include "proto/access/secret.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(SecretTest, EverySecretIsNew) {
  EXPECT_NE(NewSecret(), NewSecret());
  EXPECT_EQ(NewSecret().size(), 64u);
}

}  // namespace
}  // namespace trainyard
