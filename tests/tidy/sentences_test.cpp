#include "tests/tidy/sentences.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;

// Returns every sentence as "line: text".
std::vector<std::string> Texts(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) {
    texts.push_back(std::to_string(sentence.line) + ": " + sentence.text);
  }
  return texts;
}

std::vector<std::string> OfComments(const std::string& text) {
  return Texts(SentencesOf(CommentsOf({"a.cpp", text})));
}

TEST(SentencesTest, Comments) {
  EXPECT_THAT(OfComments("// One. Two goes\n// on. Three\n// ends.\nint a;  // Four.\n"),
              ElementsAre("1: One.", "1: Two goes on.", "2: Three ends.", "4: Four."));
  EXPECT_THAT(OfComments("// One.\n// Two: a.b, 3. of x.\n"),
              ElementsAre("1: One.", "2: Two: a.b, 3. of x."));
  EXPECT_THAT(OfComments("// One\n//\n// two\n// - Three\n// - Four\n"),
              ElementsAre("1: One", "3: two", "4: - Three", "5: - Four"));
}

TEST(SentencesTest, Literals) {
  const std::vector<Literal> literals = {{3, "No key. Set one?\nThen go"}, {4, "key"}, {5, " a b"}};
  EXPECT_THAT(Texts(SentencesOf(literals)),
              ElementsAre("3: No key.", "3: Set one?", "3: Then go", "5: a b"));
}

}  // namespace
}  // namespace trainyard::tidy
