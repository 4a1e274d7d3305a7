#include "tests/tidy/cpp_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int> LineCounts(const std::string& text) {
  std::vector<int> counts;
  for (const FunctionBody& body : FunctionsOf(text)) {
    counts.push_back(body.last_line - body.first_line + 1);
  }
  return counts;
}

TEST(CppTextTest, BlanksCommentsAndLiterals) {
  EXPECT_EQ(BlankCommentsAndLiterals("a // b\nc /* d\ne */ f"), "a     \nc     \n     f");
  EXPECT_EQ(BlankCommentsAndLiterals("f(\"a\\\"b\", 'c', 1'000, x)"), "f(     \",   ', 1'000, x)");
  EXPECT_EQ(BlankCommentsAndLiterals("R\"x(\" // )\" )x\" y"), "              \" y");
}

TEST(CppTextTest, FindsIncludes) {
  const std::vector<Include> includes = IncludesOf("#include <map>\n\n  # include \"a/b.h\"\nx\n");
  ASSERT_EQ(includes.size(), 2);
  EXPECT_EQ(includes[0].path, "map");
  EXPECT_EQ(includes[1].path, "a/b.h");
  EXPECT_EQ(includes[1].line, 3);
}

TEST(CppTextTest, FindsFunctionsOfAllKinds) {
  EXPECT_THAT(LineCounts("namespace a {\nvoid F() {\n  if (x) {\n  }\n}\n}\n"), ElementsAre(4));
  EXPECT_THAT(LineCounts("class A : public B {\n public:\n  A() {}\n  int f() const {\n }\n};"),
              ElementsAre(1, 2));
  EXPECT_THAT(LineCounts("template <typename T>\nstd::map<int, T> F(T a = {1})\n{\n\n}"),
              ElementsAre(4));
  EXPECT_THAT(LineCounts("auto F() -> std::vector<int> {\n}\nX& operator=(const X&) {\n}"),
              ElementsAre(2, 2));
  EXPECT_THAT(LineCounts("A::A(int x) : b_(x) {\n}\nTEST(A, B) {\n\n\n}"), ElementsAre(2, 4));
  EXPECT_THAT(LineCounts("#define F(x) {\\\n {\nextern \"C\" {\nint f() {\n}\n}"), ElementsAre(2));
}

TEST(CppTextTest, FindsFunctionsOfTemplates) {
  EXPECT_THAT(
      LineCounts("template <typename T>\nclass A : public B<A<T>> {\n  int f() {\n\n  }\n};"),
      ElementsAre(3));
  EXPECT_THAT(LineCounts("template <typename T>\nstd::vector<T>\nF(T a) {\n}"), ElementsAre(2));
}

// A constructor begins at the line of its name, so its length includes the member initializers.
TEST(CppTextTest, AConstructorBeginsWithItsName) {
  EXPECT_THAT(LineCounts("A::A(int x)\n    : a_{x},\n      b_(f({1})), c_{2} {\n  g();\n}"),
              ElementsAre(5));
  EXPECT_THAT(
      LineCounts("struct A {\n  A(int x,\n    int y)\n      : b_(x),\n        c_(y) {}\n};"),
      ElementsAre(4));
  EXPECT_EQ(FunctionsOf("\n\nA::A()\n    : b_(1) {\n}").front().first_line, 3);
}

TEST(CppTextTest, FindsLambdasOutsideOfFunctions) {
  EXPECT_THAT(LineCounts("const auto kA = [](int x) {\n\n};\nint F() {\n}"), ElementsAre(3, 2));
  EXPECT_THAT(LineCounts("const T kA = [] {\n  if (x) {\n  }\n}();"), ElementsAre(4));
  EXPECT_THAT(LineCounts("const T kA = Make([&](int x) mutable -> int {\n});"), ElementsAre(2));
  EXPECT_THAT(LineCounts("const T kA = {\n{1, [](int x) {\n  f({2});\n}},\n{3, nullptr}};"),
              ElementsAre(3));
  EXPECT_THAT(
      LineCounts("A::A()\n    : b_([this](int x) {\n        g();\n      }),\n      c_{1} {\n}"),
      ElementsAre(3, 6));
  EXPECT_THAT(LineCounts("void F() {\n  const auto g = [] {\n  };\n}"), ElementsAre(4));
}

TEST(CppTextTest, TablesAreNoFunctions) {
  EXPECT_THAT(FunctionsOf("constexpr int kA[] = {\n1,\n2};\nstd::array kB{\nF(1), {2}};\n"),
              IsEmpty());
  EXPECT_THAT(FunctionsOf("const auto kA = Make({\n{1}, {2}\n});\nenum class E : int {\nkA };"),
              IsEmpty());
  EXPECT_THAT(FunctionsOf("int kA[2]{\n1, 2};\nconst std::array<int, 2> kB[1] {\n{3, 4}};"),
              IsEmpty());
  const std::vector<FunctionBody> functions = FunctionsOf("int a[] = {1};\nint F(int b) {\n}");
  ASSERT_EQ(functions.size(), 1);
  EXPECT_THAT(functions[0].signature, HasSubstr("int F(int b)"));
}

}  // namespace
}  // namespace trainyard::tidy
