#include "proto/text/node_label.h"

#include <string>

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(NodeLabelTest, NamesAndValuesAreChecked) {
  EXPECT_EQ(LabelProblem("pool", "a"), "");
  EXPECT_EQ(LabelProblem("example.org/Pool_1-x", "NVIDIA H200, \xc3\xa9"), "");
  EXPECT_EQ(LabelProblem(std::string(63, 'a'), std::string(128, 'b')), "");
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a=b"),
                                  std::string("\xc3\xa9"), std::string(64, 'a')}) {
    EXPECT_NE(LabelProblem(name, "a"), "") << name;
  }
  for (const std::string& value : {std::string(), std::string("a\nb"), std::string("\x7f"),
                                   std::string("\xff"), std::string(129, 'a')}) {
    EXPECT_NE(LabelProblem("pool", value), "") << value;
  }
}

}  // namespace
}  // namespace trainyard
