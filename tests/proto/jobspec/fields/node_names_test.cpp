#include "proto/jobspec/fields/node_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NodeNamesTest, ExpandsRangesLikeSlurm) {
  EXPECT_THAT(*ExpandNodeNames("gpu07"), ElementsAre("gpu07"));
  EXPECT_THAT(*ExpandNodeNames("gpu[08-10,2],cpu-1"),
              ElementsAre("gpu08", "gpu09", "gpu10", "gpu2", "cpu-1"));
  EXPECT_THAT(*ExpandNodeNames("r[1-2]n[3-4].x"),
              ElementsAre("r1n3.x", "r1n4.x", "r2n3.x", "r2n4.x"));
  EXPECT_THAT(*ExpandNodeNames("a[9-11]"), ElementsAre("a9", "a10", "a11"));
}

TEST(NodeNamesTest, RejectsWhatIsNotAName) {
  for (const char* text : {"", "a,,b", "a,", "a[", "a]", "a[]", "a[1", "a[[1]]", "a[2-1]", "a[x]",
                           "a[1-]", "a[-1]", "a[1-2-3]", "a[1234567890]", "a b", "gpu\xc3\xa4"}) {
    const auto names = ExpandNodeNames(text);
    ASSERT_FALSE(names.ok()) << text;
    EXPECT_THAT(std::string(names.status().message()), HasSubstr("is not a name of nodes")) << text;
  }
  EXPECT_FALSE(ExpandNodeNames(std::string(256, 'a')).ok());
  EXPECT_TRUE(ExpandNodeNames(std::string(255, 'a')).ok());
}

TEST(NodeNamesTest, TheNumberOfNamesIsBounded) {
  EXPECT_EQ(ExpandNodeNames("a[1-20000]")->size(), kMaxNodeNames);
  EXPECT_FALSE(ExpandNodeNames("a[1-20001]").ok());
  EXPECT_FALSE(ExpandNodeNames("a[0-999999999]").ok());
  EXPECT_FALSE(ExpandNodeNames("a[1-200]b[1-200]c[1-200]").ok());
  EXPECT_FALSE(ExpandNodeNames("a[1-2],b", 2).ok());
  EXPECT_EQ(ExpandNodeLists(std::vector<std::string>{"a[1-10000]", "b[1-10000]"})->size(),
            kMaxNodeNames);
  EXPECT_FALSE(ExpandNodeLists(std::vector<std::string>{"a[1-20000]", "b"}).ok());
}

}  // namespace
}  // namespace trainyard
