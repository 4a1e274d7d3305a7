#include "controller/storage/store_setting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/store_opening.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

TEST(StoreSettingTest, TheFlagReplacesTheFile) {
  const std::string yaml = "store:\n  postgres: service=trainyard\n";
  EXPECT_EQ(*ReadPostgresSetting("", ""), "");
  EXPECT_EQ(*ReadPostgresSetting("retention: {logs: 30d}", ""), "");
  EXPECT_EQ(*ReadPostgresSetting("store:", ""), "");
  EXPECT_EQ(*ReadPostgresSetting(yaml, ""), "service=trainyard");
  EXPECT_EQ(*ReadPostgresSetting(yaml, "host=other"), "host=other");
}

TEST(StoreSettingTest, ErrorsNameTheKey) {
  struct BadSetting {
    const char* yaml;
    const char* message;
  };
  for (const auto& [yaml, message] :
       {BadSetting{"store: 3", "store: is not a map"},
        BadSetting{"store: {mysql: x}", "store.mysql: unknown key; the only key is postgres"},
        BadSetting{"store: {postgres: ''}", "store.postgres: is empty"},
        BadSetting{"store: {postgres: [a]}", "store: "}}) {
    const auto read = ReadPostgresSetting(yaml, "");
    ASSERT_FALSE(read.ok()) << yaml;
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(message));
  }
}

TEST(StoreSettingTest, SharesOfTheDiskApplyOnlyToFiles) {
  Stores stores = OpenMemoryStores();
  EXPECT_GT(RetentionOf(stores, RetentionPolicy()).logs.disk_share, 0);
  stores.database = "PostgreSQL database a on b";
  const RetentionPolicy policy = RetentionOf(stores, RetentionPolicy());
  EXPECT_EQ(policy.logs.disk_share, 0);
  EXPECT_EQ(policy.metrics.disk_share, 0);
  EXPECT_EQ(policy.events.disk_share, 0);
  EXPECT_EQ(policy.logs.keep_ms, RetentionPolicy().logs.keep_ms);
}

}  // namespace
}  // namespace trainyard::controller
