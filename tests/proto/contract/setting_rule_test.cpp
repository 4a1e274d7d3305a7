#include "proto/contract/setting_rule.h"

#include <gtest/gtest.h>

#include "proto/contract/run_config.h"

namespace trainyard {
namespace {

TEST(SettingNameTest, IsTheNameThatJobFilesUse) {
  EXPECT_EQ(SettingNameOf(Precision::kBf16), "bf16");
  EXPECT_EQ(SettingNameOf(Precision::kFp16), "fp16");
  EXPECT_EQ(SettingNameOf(Recompute::kNone), "none");
  EXPECT_EQ(SettingNameOf(static_cast<Precision>(99)), "");
}

}  // namespace
}  // namespace trainyard
