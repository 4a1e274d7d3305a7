#include "data/documents/json_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

using testing::HasSubstr;

class JsonLineTest : public testing::Test {
 protected:
  LineText Parse(const std::string& line) {
    padded_ = line;
    padded_.reserve(line.size() + kBlockPadding);
    return parser_.Parse(padded_);
  }

  std::string TextOf(const std::string& line) {
    const LineText parsed = Parse(line);
    EXPECT_FALSE(parsed.bad.has_value()) << line << ": " << parsed.bad->cause;
    return std::string(parsed.text);
  }

  void ExpectBad(const std::string& line, BadLineKind kind, const std::string& cause) {
    const LineText parsed = Parse(line);
    ASSERT_TRUE(parsed.bad.has_value()) << line;
    EXPECT_EQ(parsed.bad->kind, kind) << line << ": " << parsed.bad->cause;
    EXPECT_THAT(parsed.bad->cause, HasSubstr(cause));
  }

  JsonLineParser parser_{"text"};
  std::string padded_;
};

TEST_F(JsonLineTest, DecodesTheField) {
  EXPECT_EQ(TextOf(R"({"text": "one\nline\t\"q\" \/", "n": [1, {"text": "inner"}]})"),
            "one\nline\t\"q\" /");
  EXPECT_EQ(TextOf(R"({"n":null,"text":""})"), "");
  EXPECT_EQ(TextOf(R"({"text":"\u00e9 \ud83d\ude82 \\ud800"})"),
            "\xC3\xA9 \xF0\x9F\x9A\x82 \\ud800");
  EXPECT_EQ(TextOf("{\"text\":\"crlf\"}\r"), "crlf");
  EXPECT_EQ(TextOf(R"({"te\u0078t":"escaped key"})"), "escaped key");
}

TEST_F(JsonLineTest, KeepsNul) {
  EXPECT_EQ(TextOf(R"({"text":"a\u0000b"})"), std::string("a\0b", 3));
}

TEST_F(JsonLineTest, ReadsNumbersOfAnySize) {
  EXPECT_EQ(TextOf(R"({"id":123456789012345678901234567890,"text":"big","x":1e-400})"), "big");
  ExpectBad(R"({"id":123456789012345678901234567890,"text":1})", BadLineKind::kFieldNotString,
            "is not a string");
  ExpectBad(R"({"id":123456789012345678901234567890,"text":"a","text":"b"})",
            BadLineKind::kFieldTwice, "occurs twice");
  ExpectBad(R"({"id":123456789012345678901234567890})", BadLineKind::kFieldMissing, "no field");
  ExpectBad(std::string("{\"id\":123456789012345678901234567890,\"text\":\"a\"}\0x", 50),
            BadLineKind::kNotJson, "not valid JSON");
  ExpectBad(R"({"id":01,"text":"a"})", BadLineKind::kNotJson, "not valid JSON");
}

TEST_F(JsonLineTest, ChecksTheWholeLine) {
  for (const char* line :
       {"{\"text\":\"a\"", "{\"text\":\"a}", "{\"text\":\"a\",}", "{\"text\":\"a\"} x",
        "{\"text\":\"a\"}{}", "{\"text\":\"a\",\"n\":tru}", "{\"text\":\"a\",\"n\":NaN}",
        "{text:\"a\"}", "{\"text\":\"a\tb\"}", "{\"text\":\"\\x\"}", "{\"text\":\"\\u12\"}",
        "plain", "{\"text\":'a'}", "{\"n\":\"\\x\",\"text\":\"a\"}"}) {
    ExpectBad(line, BadLineKind::kNotJson, "not valid JSON");
  }
  ExpectBad(std::string(200000, '['), BadLineKind::kNotJson, "not valid JSON");
  ExpectBad("[1]", BadLineKind::kNotJson, "not a JSON object");
  ExpectBad("\"text\"", BadLineKind::kNotJson, "not a JSON object");
}

TEST_F(JsonLineTest, AdvisesOnCommonMistakes) {
  const char* const null = "NaN and Infinity are not JSON, so write null instead";
  ExpectBad(R"({"text": "one", "score": NaN})", BadLineKind::kNotJson, null);
  ExpectBad(R"({"a": "\"", "score": -Infinity, "text": "one"})", BadLineKind::kNotJson, null);
  for (const char* line : {"{", " { \r", "["}) {
    ExpectBad(line, BadLineKind::kNotJson, "the value continues on the next line, so write one");
  }
  for (const char* line : {R"({"text": "NaN \" Infinity", })", R"({"text": "a)", "}", "{}}"}) {
    const LineText parsed = Parse(line);
    ASSERT_TRUE(parsed.bad);
    EXPECT_THAT(parsed.bad->cause, testing::Not(HasSubstr("write")));
  }
}

TEST_F(JsonLineTest, NamesWhatIsWrongWithTheField) {
  ExpectBad(R"({"body":"a"})", BadLineKind::kFieldMissing,
            "no field \"text\"; pass the name of the field that contains the text with --field");
  ExpectBad("{}", BadLineKind::kFieldMissing, "no field");
  ExpectBad(R"({"n":{"text":"inner"}})", BadLineKind::kFieldMissing, "no field");
  ExpectBad(R"({"text":null})", BadLineKind::kFieldNull, "is null");
  for (const char* value : {"5", "1.5", "true", "[\"a\"]", "{}"}) {
    ExpectBad(std::string("{\"text\":") + value + "}", BadLineKind::kFieldNotString,
              "field \"text\" is not a string");
  }
  ExpectBad(R"({"text":"a","n":1,"text":"a"})", BadLineKind::kFieldTwice, "occurs twice");
}

TEST_F(JsonLineTest, LoneSurrogatesAreNamed) {
  for (const char* text : {"\\ud800", "a \\uDFFF b", "\\ud800\\u0041", "\\ud83d x \\ude82",
                           "\\ude82\\ud83d", "\\\\\\udc00"}) {
    ExpectBad(std::string("{\"text\":\"") + text + "\"}", BadLineKind::kLoneSurrogate,
              "half of a surrogate pair");
  }
}

TEST_F(JsonLineTest, InvalidUtf8IsNamedByItsPosition) {
  ExpectBad("{\"text\":\"ab\xFF\"}", BadLineKind::kNotUtf8, "not UTF-8 at byte 11 of the line");
  ExpectBad("{\"text\":\"ab\",\"n\":\"\xC0\x80\"}", BadLineKind::kNotUtf8, "--utf8 replace");
  ExpectBad("{\"text\":\"\xED\xA0\x80\"}", BadLineKind::kNotUtf8, "not UTF-8");
  ExpectBad("{\"text\":\"\xE4\xBD\"}", BadLineKind::kNotUtf8, "not UTF-8");
}

TEST_F(JsonLineTest, ReportsTheFieldsOfTheObject) {
  std::vector<std::pair<std::string, JsonType>> fields;
  parser_.ObserveFields(
      [&](std::string_view key, JsonType type) { fields.emplace_back(key, type); });
  // A number of more than 64 bits is read by another parser, which sorts the keys.
  for (const char* number : {"1", "-1.5", "1234567890123456789012"}) {
    fields.clear();
    Parse("{\"a\": {\"deep\": 1}, \"b\": [], \"c\": false, \"d\": " + std::string(number) +
          ", \"e\": null, \"text\": \"x\"}");
    EXPECT_THAT(fields,
                testing::ElementsAre(
                    testing::Pair("a", JsonType::kObject), testing::Pair("b", JsonType::kArray),
                    testing::Pair("c", JsonType::kBoolean), testing::Pair("d", JsonType::kNumber),
                    testing::Pair("e", JsonType::kNull), testing::Pair("text", JsonType::kString)));
  }
  fields.clear();
  Parse("{\"other\": 1}");
  EXPECT_EQ(fields.size(), 1u) << "lines without the text count, too";
  Parse("[1]");
  Parse("{\"cut\": ");
  EXPECT_EQ(fields.size(), 1u);
  parser_.ObserveFields(nullptr);
  Parse("{\"text\": \"x\"}");
  EXPECT_EQ(fields.size(), 1u);
}

TEST_F(JsonLineTest, ABadLineDoesNotAffectTheNext) {
  ExpectBad(R"({"text":"\ud800"})", BadLineKind::kLoneSurrogate, "surrogate");
  EXPECT_EQ(TextOf(R"({"text":"good"})"), "good");
  const std::string large(3000000, 'x');
  EXPECT_EQ(TextOf("{\"text\":\"" + large + "\"}"), large);
  EXPECT_EQ(TextOf(R"({"text":"small"})"), "small");
}

}  // namespace
}  // namespace trainyard::data
