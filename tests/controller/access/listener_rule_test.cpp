#include "controller/access/listener_rule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

TEST(ListenerRuleTest, BeyondThisMachineOnlyWithTokenAndTls) {
  for (const char* address : {"0.0.0.0:7070", "[::]:7070", "10.0.0.1:7070", "host:7070", "bad"}) {
    for (const bool token : {false, true}) {
      for (const bool tls : {false, true}) {
        ListenerSetting setting{
            .flag = "--listen", .address = address, .has_token = token, .has_tls = tls};
        EXPECT_EQ(CheckListener(setting).ok(), token && tls) << address << token << tls;
        setting.insecure = true;
        EXPECT_TRUE(CheckListener(setting).ok());
        EXPECT_EQ(DangerOf(setting).empty(), token && tls);
      }
    }
  }
  const absl::Status refused =
      CheckListener({.flag = "--http-listen", .address = "0.0.0.0:1", .has_token = true});
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--http-listen 0.0.0.0:1"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--tls-cert"));
}

TEST(ListenerRuleTest, LoopbackNeedsNoTls) {
  for (const char* address : {"127.0.0.1:0", "[::1]:7070", "localhost:7070"}) {
    EXPECT_TRUE(CheckListener({.flag = "--listen", .address = address}).ok()) << address;
    EXPECT_EQ(DangerOf({.flag = "--listen", .address = address}), "");
  }
}

}  // namespace
}  // namespace trainyard::controller
