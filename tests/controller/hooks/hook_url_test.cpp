#include "controller/hooks/hook_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

TEST(HookUrlTest, HasHostPortAndTarget) {
  EXPECT_EQ(ParseHookUrl("http://h:81")->port, "81");
  EXPECT_EQ(ParseHookUrl("http://h:81")->target, "/");
  EXPECT_EQ(ParseHookUrl("https://chat.example.com./a?b=c")->target, "/a?b=c");
  EXPECT_EQ(ParseHookUrl("https://chat.example.com")->port, "443");
  EXPECT_EQ(ParseHookUrl("http://h?b=/c:1")->target, "/?b=/c:1");
  EXPECT_EQ(ParseHookUrl("http://127.0.0.1:1/a:b@c")->host, "127.0.0.1");
  EXPECT_EQ(ParseHookUrl("http://my_host-1.local")->host, "my_host-1.local");
}

TEST(HookUrlTest, ASixAddressHasBracketsInTextOnly) {
  EXPECT_EQ(ParseHookUrl("http://[::1]:81/x")->host, "::1");
  EXPECT_EQ(ParseHookUrl("http://[::1]:81/x")->HostText(), "[::1]");
  EXPECT_EQ(ParseHookUrl("http://[::1]/x")->port, "80");
  EXPECT_EQ(ParseHookUrl("http://h/x")->HostText(), "h");
}

TEST(HookUrlTest, WhatIsWrongIsNamed) {
  const std::map<std::string, std::string> reasons = {
      {"h", "not an http:// or https://"},
      {"ftp://h", "not an http:// or https://"},
      {"http://h/a b", "not an http:// or https://"},
      {"http://h\r\nX: 1", "not an http:// or https://"},
      {"http://", "neither a host name"},
      {"http:///x", "neither a host name"},
      {"http://:80", "neither a host name"},
      {"http://h..i", "neither a host name"},
      {"http://-h", "neither a host name"},
      {"http://h_$", "neither a host name"},
      {"http://1.2.3", "neither a host name"},
      {"http://1.2.3.400", "neither a host name"},
      {"http://" + std::string(64, 'a'), "neither a host name"},
      {"http://::1/", "neither a host name"},
      {"http://[::1", "is not closed"},
      {"http://[::1:80/x", "is not closed"},
      {"http://[::1/x]", "is not closed"},
      {"http://[::g]", "not an IPv6 address"},
      {"http://[]", "not an IPv6 address"},
      {"http://[127.0.0.1]", "not an IPv6 address"},
      {"http://[fe80::1%eth0]", "not an IPv6 address"},
      {"http://[::1]x", "not a port"},
      {"http://h:0", "not a port"},
      {"http://h:", "not a port"},
      {"http://h:x", "not a port"},
      {"http://h:+80", "not a port"},
      {"http://h:99999", "not a port"},
      {"http://h:80:81", "not a port"},
      {"http://me:word@h/", "remove the user and password"},
      {"http://h/#top", "fragment"},
  };
  for (const auto& [text, reason] : reasons) {
    EXPECT_THAT(ParseHookUrl(text).status().message(), HasSubstr(reason)) << text;
  }
}

}  // namespace
}  // namespace trainyard::controller
