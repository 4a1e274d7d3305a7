#include "cli/output/terminal/table.h"

#include "gmock/gmock.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

Listing Example() {
  Listing listing;
  listing.columns = {{"ID", true}, {"NAME", false, false, true}, {"NOTE", false, true}};
  listing.rows = {{{"1", "short", "x,y"}, "1", {{"id", 1}}},
                  {{"22", "a-very-long-name-indeed", "\"q\"\n"}, "22", {{"id", 22}}}};
  return listing;
}

TEST(TableTest, AlignsAndHidesWideColumns) {
  EXPECT_EQ(RenderTable(Example(), false, 0), "ID  NAME\n 1  short\n22  a-very-long-name-indeed\n");
  EXPECT_THAT(RenderTable(Example(), true, 0), HasSubstr("NOTE"));
}

TEST(TableTest, ShrinksTheColumnsThatMayThenCutsTheLine) {
  EXPECT_EQ(RenderTable(Example(), false, 16), "ID  NAME\n 1  short\n22  a-very-long…\n");
  EXPECT_EQ(RenderTable(Example(), false, 8), "ID  NAME\n 1  sho…\n22  a-v…\n");
}

// Returns a listing like `ps` prints: a name, a rate, an age, and a long reason with a kept width.
Listing Reasoned() {
  Listing listing;
  listing.columns = {{"NAME", false, false, true},
                     {"TOK/S", true, false, false, 0, 2},
                     {"AGE", true, false, false, 0, 1},
                     {"REASON", false, false, true, 12}};
  listing.rows = {
      {{"a-very-long-name", "5.23k", "3m12s", "needs two nodes, one is free"}, "1", {}}};
  return listing;
}

TEST(TableTest, AKeptColumnOutlivesTheWidthOfOthers) {
  // The widest column shrinks first, down to its kept width, followed by the other columns.
  EXPECT_EQ(RenderTable(Reasoned(), false, 50),
            "NAME              TOK/S    AGE  REASON\n"
            "a-very-long-name  5.23k  3m12s  needs two nodes, …\n");
  EXPECT_EQ(RenderTable(Reasoned(), false, 36),
            "NAME      TOK/S    AGE  REASON\n"
            "a-very-…  5.23k  3m12s  needs two n…\n");
}

TEST(TableTest, ColumnsAreHiddenInTheirOrderBeforeAKeptOneShrinks) {
  EXPECT_EQ(RenderTable(Reasoned(), false, 30),
            "NAME       TOK/S  REASON\na-very-l…  5.23k  needs two n…\n");
  EXPECT_EQ(RenderTable(Reasoned(), false, 23), "NAME       REASON\na-very-l…  needs two n…\n");
  // No column is left to hide.
  EXPECT_EQ(RenderTable(Reasoned(), false, 20), "NAME      REASON\na-very-…  needs two…\n");
  EXPECT_THAT(RenderTable(Reasoned(), true, 36), HasSubstr("AGE"));
}

TEST(TableTest, ARedCellIsRedOnATerminal) {
  Listing listing = Example();
  listing.rows[0].red_cell = 1;
  const std::string red = "ID  NAME\n 1  \033[31mshort\033[0m\n22  a-very-long-name-indeed\n";
  EXPECT_EQ(RenderTable(listing, false, 0, true), red);
  EXPECT_EQ(RenderTable(listing, false, 0), RenderTable(Example(), false, 0));
}

TEST(TableTest, ARedCellThatTheTerminalCutsHasNoColor) {
  Listing listing = Example();
  listing.rows[0].red_cell = 1;
  EXPECT_EQ(RenderTable(listing, false, 8, true), RenderTable(Example(), false, 8));
}

TEST(TableTest, CsvQuotesWhatItMust) {
  EXPECT_EQ(RenderCsv(Example()),
            "ID,NAME,NOTE\n1,short,\"x,y\"\n22,a-very-long-name-indeed,\"\"\"q\"\" \"\n");
}

TEST(TableTest, YamlKeepsTextAsText) {
  const nlohmann::json document = {{"no", "no"},
                                   {"exp", "1e3"},
                                   {"n", 1.5},
                                   {"none", nullptr},
                                   {"t", true},
                                   {"list", {1, "2"}},
                                   {"empty", nlohmann::json::array()}};
  const YAML::Node read = YAML::Load(DumpYaml(document));
  EXPECT_EQ(read["no"].Tag(), "!");  // Quoted, so every reader treats it as a string.
  EXPECT_EQ(read["exp"].Tag(), "!");
  EXPECT_EQ(read["n"].as<double>(), 1.5);
  EXPECT_TRUE(read["none"].IsNull());
  EXPECT_TRUE(read["t"].as<bool>());
  EXPECT_EQ(read["list"].size(), 2u);
  EXPECT_TRUE(read["empty"].IsSequence());
}

TEST(TableTest, BrokenUtf8IsReplaced) {
  EXPECT_EQ(DumpJson(std::string("a\xff"), -1), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace trainyard::cli
