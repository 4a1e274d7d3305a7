#include "cli/output/terminal/printable_stream.h"

#include <sstream>
#include <string>

#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/text/printable.h"

namespace trainyard::cli {
namespace {

constexpr char kHostile[] =
    "a\x1b]0;owned\x07 b\r\xE2\x80\xAE"
    "c\xC2\x9B"
    "31m\x7f";
constexpr char kShown[] = "a\\u001b]0;owned\\u0007 b\\u000d\\u202ec\\u009b31m\\u007f";

std::string Through(const std::string& text, bool colors = false) {
  std::ostringstream target;
  {
    PrintableBuffer buffer(*target.rdbuf(), colors);
    std::ostream out(&buffer);
    out << text;
    out.flush();
  }
  return target.str();
}

TEST(PrintableStreamTest, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(Through(kHostile), kShown);
  EXPECT_EQ(PrintableLine(kHostile, true), kShown) << "colors only, nothing else";
  EXPECT_EQ(Through("one\ttwo\nünïcode ✓\n"), "one\ttwo\nünïcode ✓\n");
  EXPECT_EQ(Through("\xE2\x80"), "\xE2\x80") << "half a character is nobody's command";
}

TEST(PrintableStreamTest, ColorsPassOnATerminalOnly) {
  EXPECT_EQ(Through("\x1b[1;31mred\x1b[0m", true), "\x1b[1;31mred\x1b[0m");
  EXPECT_EQ(Through("\x1b[31mred", false), "\\u001b[31mred");
  EXPECT_EQ(Through("\x1b[2J\x1b[31;", true), "\\u001b[2J\\u001b[31;");
}

TEST(PrintableStreamTest, JsonStaysTheSameDocument) {
  const nlohmann::json document = {{"name", kHostile}};
  EXPECT_EQ(nlohmann::json::parse(Through(DumpJson(document, 2))), document);
}

TEST(PrintableStreamTest, ALongLineComesWhole) {
  std::string line;
  while (line.size() < 300'000) line += "word \xE2\x80\xAE, ";
  std::string shown;
  while (shown.size() < line.size() / 10 * 13) shown += "word \\u202e, ";
  std::ostringstream target;
  PrintableBuffer buffer(*target.rdbuf(), false);
  std::ostream out(&buffer);
  for (std::size_t i = 0; i < line.size(); i += 1000) out << line.substr(i, 1000);
  out.flush();
  EXPECT_EQ(target.str().substr(0, 5000), shown.substr(0, 5000));
  EXPECT_EQ(target.str().find('\xE2'), std::string::npos);
}

TEST(PrintableStreamTest, CellsAndFieldsAreOneLine) {
  EXPECT_EQ(OneLine("a\nb\tc\x1b"), "a b c\\u001b");
  EXPECT_EQ(CsvField("a,\r\n\"b\""), "\"a,  \"\"b\"\"\"");
  EXPECT_EQ(CsvField("=1\x07"), "=1\\u0007");
}

}  // namespace
}  // namespace trainyard::cli
