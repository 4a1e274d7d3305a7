// Tests the name rule on invented files, which
// contain names to reject and names to accept.
#include "tests/tidy/name_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NameRulesTest, RefusesBannedParts) {
  EXPECT_THAT(CheckNameParts({{"cli/dev/a.cpp", "int x;\nvoid TellUnsaved(int told_step_);\n"}}),
              ElementsAre("cli/dev/a.cpp:2: the name TellUnsaved; say report, notify, send",
                          HasSubstr("the name told_step_; say reported")));
  for (const char* name : {"kTold", "SetAsideFormerNode", "is_set_aside", "holdBackChanges", "RID",
                           "HTTPTold", "says2"}) {
    EXPECT_EQ(CheckNameParts({{"worker/rpc/a.h", name}}).size(), 1) << name;
    EXPECT_EQ(CheckNameParts({{"web/src/a.tsx", name}}).size(), 1) << name;
  }
  EXPECT_EQ(CheckNameParts({{"cli/dev/a.cpp", "told(1); told(2);"}}).size(), 1);
}

TEST(NameRulesTest, LetsOtherNamesPass) {
  for (const char* code : {"Retold();", "Satellite();", "grid_", "AsideSet();", "kSetToAside",
                           "f(\"told\");", "// told", "tellurium"}) {
    EXPECT_THAT(CheckNameParts({{"cli/dev/a.cpp", code}}), IsEmpty()) << code;
  }
  // This folder is listed as exempt.
  EXPECT_THAT(CheckNameParts({{"cli/output/a.cpp", "told"}}), IsEmpty());
  EXPECT_THAT(CheckNameParts({{"tests/a.cpp", "told"}, {"web/vite.ts", "told"}}), IsEmpty());
}

TEST(NameRulesTest, KeepsTheFieldsOfProtoFiles) {
  const SourceFile proto = {"proto/trainyard/v1/a.proto", "  string trouble = 1;\n"};
  EXPECT_THAT(CheckNameParts({proto, {"cli/dev/a.cpp", "a.set_trouble(b.trouble());"}}), IsEmpty());
  EXPECT_EQ(CheckNameParts({proto, {"cli/dev/a.cpp", "TroubleOf(a);"}}).size(), 1);
}

}  // namespace
}  // namespace trainyard::tidy
