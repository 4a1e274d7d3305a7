#include "data/documents/json_field.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::data {
namespace {

TEST(JsonFieldTest, ReplacesOnlyTheText) {
  EXPECT_EQ(WithText(R"({"text":"old","id":123456789012345678901234567890})", "text", "new"),
            R"({"text":"new","id":123456789012345678901234567890})");
  EXPECT_EQ(WithText("\t{ \"a\" : {\"text\": \"x\"} , \"text\" :  \"o\\\"ld\\\\\" }\r", "text", ""),
            "\t{ \"a\" : {\"text\": \"x\"} , \"text\" :  \"\" }\r");
  EXPECT_EQ(WithText(R"({"a":[1,{"b":"},\""},"]"],"c":null,"text":"t"})", "text", "a\"\n\xC3\xA4"),
            "{\"a\":[1,{\"b\":\"},\\\"\"},\"]\"],\"c\":null,\"text\":\"a\\\"\\n\xC3\xA4\"}");
}

TEST(JsonFieldTest, ReadsEscapesInKeys) {
  EXPECT_EQ(WithText(R"({"te\u0078t":"old"})", "text", "new"), R"({"te\u0078t":"new"})");
  EXPECT_EQ(WithText(R"({"\"":"old"})", "\"", "new"), R"({"\"":"new"})");
}

TEST(JsonFieldTest, LinesWithoutTheFieldHaveNoText) {
  for (const char* line : {"", "[]", "{}", R"({"a":"text"})", R"({"text":1})", R"({"text)",
                           R"({"text"})", R"({"a":"\)"}) {
    EXPECT_EQ(WithText(line, "text", "new"), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace trainyard::data
