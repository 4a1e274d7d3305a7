// Tests each rule on invented files, which
// contain text to reject and text to accept.
#include "tests/tidy/prose_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tidy/comments.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns every comment line as "number: text". A "+" marks the first line of a comment.
std::vector<std::string> Comments(const std::string& path, const std::string& text) {
  std::vector<std::string> lines;
  for (const CommentLine& line : CommentsOf({path, text})) {
    lines.push_back((line.opens ? "+" : "") + std::to_string(line.line) + ": " + line.text);
  }
  return lines;
}

TEST(CommentsTest, OfCode) {
  EXPECT_THAT(Comments("a.cpp", "// One.\n// Two.\nint a;  // Three.\n\n// Four.\n"),
              ElementsAre("+1: One.", "2: Two.", "+3: Three.", "+5: Four."));
  EXPECT_THAT(Comments("a.ts", "/* One\n * two */ f('http://x');\nconst b = `// no`; // Yes."),
              ElementsAre("+1: One", "2: two", "+3: Yes."));
  EXPECT_THAT(Comments("a.cpp", "auto a = R\"x(// no\n\")x\";  // Yes.\nint b = 1'000;  // 2"),
              ElementsAre("+2: Yes.", "+3: 2"));
  EXPECT_THAT(Comments("a.css", "a { b: url(//c); } /* Yes */"), ElementsAre("+1: Yes"));
}

TEST(CommentsTest, OfScripts) {
  EXPECT_THAT(Comments("a.sh", "#!/bin/sh\na=${#b} # Yes\necho '# no'\n"),
              ElementsAre("+1: !/bin/sh", "+2: Yes"));
  EXPECT_THAT(Comments("a.py", "\"\"\"One\ntwo\"\"\"\nb = \"#no\"  # Three.\n"),
              ElementsAre("+1: One", "2: two", "+3: Three."));
  EXPECT_THAT(Comments("a.md", "one\n# two\n"), ElementsAre("1: one", "2: # two"));
}

TEST(ProseRulesTest, Citations) {
  const SourceFile top = {"TOP.md", "# Top\n\n## 1. First\n"};
  const SourceFile beside = {"a/README.md", ""};
  EXPECT_THAT(CheckCitations({{"a/b/c.cpp", "// See GONE.md.\n"}, top}),
              ElementsAre("a/b/c.cpp:1: names GONE.md, which is not in the repository"));
  EXPECT_THAT(CheckCitations({{"x.md", "[Top](TOP.md), section 2\n"}, top}),
              ElementsAre("x.md:1: TOP.md has no section 2"));
  EXPECT_THAT(CheckCitations({beside, {"b/c.h", "// README.md\n"}}),
              ElementsAre(HasSubstr("names README.md")));
  for (const char* text : {"// TOP.md section 1", "// README.md", "// a/README.md", "// */GONE.md",
                           "// /usr/share/GONE.md", "// $d/GONE.md", "f(\"GONE.md\");"}) {
    EXPECT_THAT(CheckCitations({{"a/b/c.cpp", text}, top, beside}), IsEmpty()) << text;
  }
}

TEST(ProseRulesTest, Words) {
  EXPECT_THAT(CheckWords({{"a.cpp", "f();  // A deaf worker.\n"}}),
              ElementsAre("a.cpp:1: says \"deaf\"; say slow consumer"));
  EXPECT_THAT(CheckWords({{"a.md", "The node stood\nstill, Silent since.\n"}}),
              ElementsAre(HasSubstr("a.md:2: says \"Silent\"")));
  EXPECT_THAT(CheckWords({{"a.ts", "// Peers made no progress. Overheard.\nsay('deaf');\n"}}),
              IsEmpty());
}

TEST(ProseRulesTest, WordsOfUserTexts) {
  EXPECT_THAT(CheckWords({{"cli/a.cpp", "\nf(\"node 1 is silent\");"}}),
              ElementsAre("cli/a.cpp:2: says \"silent\"; say no heartbeat since"));
  EXPECT_EQ(CheckWords({{"web/src/a.tsx", "<p>\n  A deaf worker\n</p>"}}).size(), 1);
  EXPECT_EQ(CheckWords({{"web/src/a.ts", "const a = `job ${id} is silent`;"}}).size(), 1);
  // None of these contains user texts: a key, a test, and a program with literals that users do not
  // see.
  for (const auto& [path, text] : std::vector<std::pair<std::string, std::string>>{
           {"cli/a.cpp", "f(\"silent\");"},
           {"web/src/a.test.ts", "it('is a silent node', f);"},
           {"tests/cli/a.cpp", "f(\"node 1 is silent\");"}}) {
    EXPECT_THAT(CheckWords({{path, text}}), IsEmpty()) << path;
  }
}

TEST(ProseRulesTest, Openings) {
  EXPECT_THAT(CheckOpenings({{"a.h", "// What is new.\n// Where it was.\nint a;  // Who.\n"}}),
              ElementsAre("a.h:1: begins with \"What\"; begin with the thing",
                          "a.h:2: begins with \"Where\"; begin with the thing",
                          "a.h:3: begins with \"Who\"; begin with the thing"));
  EXPECT_THAT(CheckOpenings({{"a.h", "// The job that waits. Of a\n// job.\n"}}),
              ElementsAre("a.h:1: begins with \"Of\"; begin with the thing"));
  for (const char* text : {"Of the job.", "Also true.", "Nor that.", "The same for b.", "The same.",
                           "That the daemon uses.", "Those that differ.", "How it ends."}) {
    EXPECT_EQ(CheckOpenings({{"a.h", std::string("int a;  // ") + text}}).size(), 1) << text;
    const std::string literal = std::string("f(\"A b. ") + text + " x\");";
    EXPECT_EQ(CheckOpenings({{"worker/a.cpp", literal}}).size(), 1) << text;
  }
  for (const char* text : {"The job that waits.\n// of what follows.", "Why is it so? Who knows?",
                           "The same events give the same state.", "That is, none.", "Offset.",
                           "Those nodes wait.", "Whatever happens."}) {
    EXPECT_THAT(CheckOpenings({{"a.h", std::string("// ") + text + "\n"}}), IsEmpty()) << text;
  }
  // This folder is listed as exempt.
  EXPECT_THAT(CheckOpenings({{"cli/a.h", "// Of the job.\n"}}), IsEmpty());
  EXPECT_THAT(CheckOpenings({{"a.md", "Of the job.\n"}, {"tests/a.cpp", "f(\"Of a job\");"}}),
              IsEmpty());
}

}  // namespace
}  // namespace trainyard::tidy
