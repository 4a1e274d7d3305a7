#include "cli/convert/source/source_tree.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Returns each value as a text such as "2 a.b=text".
std::vector<std::string> Values(const absl::StatusOr<SourceTree>& tree) {
  if (!tree.ok()) return {std::string(tree.status().message())};
  std::vector<std::string> values;
  for (const SourceValue& value : tree->values()) {
    values.push_back(absl::StrCat(value.line, " ", value.path, "=", value.text));
  }
  return values;
}

std::vector<std::string> PythonValues(const std::string& text) {
  const absl::StatusOr<std::vector<SourceTree>> trees = ReadPythonTrees(text);
  if (!trees.ok()) return {std::string(trees.status().message())};
  return Values(trees->front());
}

TEST(SourceTreeTest, EveryFormatGivesPathsAndLines) {
  EXPECT_THAT(Values(ReadYamlTree("a:\n  b: 1\nc: [x, {d: true}]\n")),
              ElementsAre("2 a.b=1", "3 c[]=x", "3 c[].d=true"));
  EXPECT_THAT(Values(ReadJsonTree("{\"a\": {\n\"b\": 1\n},\n\"c\": [\"x\",\n2.5]}")),
              ElementsAre("2 a.b=1", "4 c[]=x", "5 c[]=2.5"));
  EXPECT_THAT(Values(ReadTomlTree("[a]\nb = 1\nc = [\"x\", 2.5]\nd = 2024-01-02\n")),
              UnorderedElementsAre("2 a.b=1", "3 a.c[]=x", "3 a.c[]=2.5", "4 a.d=2024-01-02"));
  EXPECT_THAT(
      PythonValues("import x\nc = x.C(a=D(\n  b=-1, c=(0.9, 'y')),\n"
                   "  e={\"f\": 4 * 1024}, g=h.i(2), j=k + 1)\n"),
      ElementsAre("3 a.b=-1", "3 a.c[]=0.9", "3 a.c[]=y", "4 e.f=4096", "4 g=2", "4 j=k+1"));
}

// Without the check in toml_tree.cpp, an assertion of toml++ would fail.
TEST(SourceTreeTest, ATableNameThatIsNoNameIsAnError) {
  EXPECT_THAT(Values(ReadTomlTree("[%model]\nname = 1\n")),
              ElementsAre(testing::HasSubstr("is not valid TOML")));
}

TEST(SourceTreeTest, LaterAssignmentsBelongToTheirPythonName) {
  EXPECT_THAT(PythonValues("config = m.Model7B()\nother = {'a': 1}\n# c\nconfig.a.b = 8  # x\n"
                           "config.c = True\nconfig.d['e'] = [1,\n  2]\nconfig.f += 3\n"
                           "other.a = 9\nunknown.a = 4\nif config.a.b == 8: pass\nrun(config)\n"
                           "config.g = config.c\n"),
              ElementsAre("4 a.b=8", "5 c=True", "6 d.e[]=1", "7 d.e[]=2", "13 g=config.c"));
  const absl::StatusOr<std::vector<SourceTree>> trees =
      ReadPythonTrees("x = 1\nconfig = m.Model7B()\n");
  ASSERT_TRUE(trees.ok());
  EXPECT_EQ(trees->front().call(), "m.Model7B");
  EXPECT_EQ(trees->front().call_line(), 2);
}

TEST(SourceTreeTest, ReferencesTakeTheValueThatIsThere) {
  EXPECT_THAT(
      Values(ReadYamlTree("n: 8\nm: {a: '${n}', b: '${.a}x', c: '${gone}', d: '${m.d}'}\n")),
      ElementsAre("1 n=8", "2 m.a=8", "2 m.b=8x", "2 m.c=${gone}", "2 m.d=${m.d}"));
}

TEST(SourceTreeTest, NumbersAreReadWhole) {
  EXPECT_EQ(WholeOf("1_000"), 1000);
  EXPECT_EQ(WholeOf("2e3"), 2000);
  EXPECT_EQ(WholeOf("999999999999999999"), 999999999999999999);
  for (const char* text : {"", " 1", "1.5", "nan", "inf", "1e30", "0x10", "a"}) {
    EXPECT_FALSE(WholeOf(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace trainyard::cli
