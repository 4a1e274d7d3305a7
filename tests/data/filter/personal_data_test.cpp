#include "data/filter/personal_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

// The text with the replacements "<E>", "<4>" and "<6>".
std::string Replaced(std::string_view text) {
  std::string result;
  return ReplacePersonalData(text, {"<E>", "<4>", "<6>"}, &result) ? result : std::string(text);
}

TEST(PersonalDataTest, ReplacesEmailAddresses) {
  EXPECT_EQ(Replaced("a@b.org"), "<E>");
  EXPECT_EQ(Replaced("Write to first.last+tag@mail.example-site.co.uk."), "Write to <E>.");
  EXPECT_EQ(Replaced("(x_1@a1.de, y@b.fr)"), "(<E>, <E>)");
  EXPECT_EQ(Replaced("<mailto:me@web.net>"), "<mailto:<E>>");
  EXPECT_EQ(Replaced("\xC3\xA9t\xC3\xA9 me@web.net\xC3\xA9"), "\xC3\xA9t\xC3\xA9 <E>\xC3\xA9");
  EXPECT_EQ(Replaced(".me@web.net"), ".<E>");
  EXPECT_EQ(Replaced("a..me@web.net"), "a..<E>");
  EXPECT_EQ(Replaced("me@web.net--"), "<E>--");
  EXPECT_EQ(Replaced(std::string(64, 'a') + "@web.net"), "<E>");
}

TEST(PersonalDataTest, LeavesOtherTextsWithAnAtSign) {
  for (const char* text :
       {"@user", "a @ b.org", "me@", "me@localhost", "me@-a.org", "x@1.2", "def f(x) @decorator.a",
        "user@host:22", "@@", "a@b..c", "a@.org", "user@example.4"}) {
    EXPECT_EQ(Replaced(text), text);
  }
  const std::string long_name = std::string(65, 'a') + "@web.net";
  EXPECT_EQ(Replaced(long_name), long_name);
}

TEST(PersonalDataTest, ReplacesPublicIpv4Addresses) {
  EXPECT_EQ(Replaced("8.8.8.8"), "<4>");
  EXPECT_EQ(Replaced("from 93.184.216.34:80, 1.1.1.1."), "from <4>:80, <4>.");
  EXPECT_EQ(Replaced("172.32.0.1 and 100.128.0.1 and 198.20.0.1 and 223.255.255.255"),
            "<4> and <4> and <4> and <4>");
}

TEST(PersonalDataTest, LeavesPrivateAddressesAndVersions) {
  for (const char* text :
       {"0.1.2.3",    "10.0.0.1",       "100.64.0.1",  "127.0.0.1",  "169.254.1.1",
        "172.16.0.1", "172.31.255.255", "192.0.0.8",   "192.0.2.1",  "192.168.1.1",
        "198.18.0.1", "198.51.100.7",   "203.0.113.9", "224.0.0.1",  "255.255.255.255",
        "8.8.8",      "8.8.8.8.8",      "v8.8.8.8",    "8.8.8.8b",   "256.1.1.1",
        "8.08.8.8",   "1.1.1.1000",     "8.8.8.",      "9.8.8.8.8 8"}) {
    EXPECT_EQ(Replaced(text), text);
  }
}

TEST(PersonalDataTest, ReplacesPublicIpv6Addresses) {
  EXPECT_EQ(Replaced("2606:2800:220:1:248:1893:25c8:1946"), "<6>");
  EXPECT_EQ(Replaced("[2a00:1450::200E]:443, 2600:: and 2606:4700:4700::1111: yes"),
            "[<6>]:443, <6> and <6>: yes");
}

TEST(PersonalDataTest, LeavesLocalAddressesTimesAndCode) {
  for (const char* text :
       {"::1", "fe80::1", "fc00::1", "ff02::1", "2001:db8::1", "3fff:f::1", "12:34:56",
        "std::string", "a::b", "ab::cd", "2600:1", "2600:1:2:3:4:5:6:7:8", "2600::1::2", "x2600::1",
        "2600::12345", "::", "face:b00c", "10:00::"}) {
    EXPECT_EQ(Replaced(text), text);
  }
}

TEST(PersonalDataTest, ReplacesOnlyTheChosenKinds) {
  const std::string text = "a@b.org 8.8.8.8 2600::1";
  std::string result;
  PersonalDataEdit edit{"", std::nullopt, std::nullopt};
  ASSERT_TRUE(ReplacePersonalData(text, edit, &result));
  EXPECT_EQ(result, " 8.8.8.8 2600::1");
  edit = {std::nullopt, "4", std::nullopt};
  ASSERT_TRUE(ReplacePersonalData(text, edit, &result));
  EXPECT_EQ(result, "a@b.org 4 2600::1");
  edit = {std::nullopt, std::nullopt, "6"};
  ASSERT_TRUE(ReplacePersonalData(text, edit, &result));
  EXPECT_EQ(result, "a@b.org 8.8.8.8 6");
  EXPECT_FALSE(ReplacePersonalData("nothing here", {}, &result));
  EXPECT_FALSE(ReplacePersonalData("", {}, &result));
}

TEST(PersonalDataTest, ASecondPassChangesNothing) {
  std::string once;
  ASSERT_TRUE(ReplacePersonalData("a@b.org, 8.8.8.8, 2600::1", {}, &once));
  EXPECT_EQ(once, "email@example.com, 192.0.2.1, 2001:db8::1");
  std::string twice;
  ASSERT_TRUE(ReplacePersonalData(once, {}, &twice));
  EXPECT_EQ(twice, once);
}

TEST(PersonalDataTest, LongRunsTakeLinearTime) {
  for (const char* unit : {"a", "@", "a@", "a.", "1.", ":", "a:", "1:", "a@b."}) {
    std::string text;
    while (text.size() < 2'000'000) text += unit;
    std::string result;
    // Time proportional to the square of the length would exceed the limit of the test.
    ReplacePersonalData(text, {}, &result);
    EXPECT_LE(result.size(), 20 * text.size());
  }
}

}  // namespace
}  // namespace trainyard::data
