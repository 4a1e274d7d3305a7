#include "data/documents/utf8_repair.h"

#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

// Returns the text with each U+FFFD as "?".
std::string Repaired(const std::string& text) {
  std::string repaired = RepairUtf8(text);
  for (size_t at; (at = repaired.find("\xEF\xBF\xBD")) != std::string::npos;) {
    repaired.replace(at, 3, "?");
  }
  return repaired;
}

TEST(Utf8RepairTest, ValidTextStaysAsItIs) {
  const std::string text(
      "a\0\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80"
      "\xF4\x8F\xBF\xBF\xEF\xBB\xBF",
      26);
  EXPECT_TRUE(IsValidUtf8(text));
  EXPECT_EQ(RepairUtf8(text), text);
  EXPECT_EQ(RepairUtf8(""), "");
}

// The expected values are those of Python 3.11: bytes.decode("utf-8", errors="replace").
TEST(Utf8RepairTest, ReplacesAsPythonDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"a\xFFz", "a?z"},
      {"a\x80\xBFz", "a??z"},
      {"a\xC0\x80z", "a??z"},  // overlong NUL
      {"a\xC1\xBFz", "a??z"},
      {"a\xC3z", "a?z"},
      {"a\xE0\x80\x80z", "a???z"},  // overlong
      {"a\xE0\xA0z", "a?z"},        // cut after two of three bytes
      {"a\xE4\xBDz", "a?z"},
      {"a\xE4\xBD\xFFz", "a??z"},
      {"a\xED\xA0\x80z", "a???z"},                 // a surrogate
      {"a\xED\xA0\xBD\xED\xBA\x82z", "a??????z"},  // a pair of surrogates
      {"a\xF0\x8F\x80\x80z", "a????z"},            // overlong
      {"a\xF0\x9F\x9Az", "a?z"},
      {"a\xF0\x9F\xC3\xA9z", "a?\xC3\xA9z"},
      {"a\xF4\x90\x80\x80z", "a????z"},  // above U+10FFFF
      {"a\xF5\x80\x80\x80z", "a????z"},
      {"a\xF8\x88\x80\x80\x80z", "a?????z"},
      {"\xE4\xBD", "?"},
      {"\xF0\x9F\x9A", "?"},
      {"\xC3", "?"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(Repaired(text), expected) << testing::PrintToString(std::string(text));
    EXPECT_FALSE(IsValidUtf8(text));
    EXPECT_TRUE(IsValidUtf8(RepairUtf8(text)));
  }
}

}  // namespace
}  // namespace trainyard::data
