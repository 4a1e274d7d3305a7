#include "tests/tidy/include_cycles.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string IncludeOf(const std::string& path) { return "#include \"" + path + "\"\n"; }

TEST(IncludeCyclesTest, AHeaderAndItsSourceFileAreOneModule) {
  const SourceTree tree = {{"cli/a.cpp", IncludeOf("cli/a.h") + IncludeOf("cli/b.h")},
                           {"cli/a.h", ""},
                           {"cli/b.cpp", IncludeOf("cli/b.h")},
                           {"cli/b.h", IncludeOf("cli/a.h")}};
  EXPECT_THAT(CheckModuleCycles(tree), ElementsAre("cli/a -> cli/b -> cli/a"));
}

TEST(IncludeCyclesTest, ACycleOfThreeIsReportedOnce) {
  const SourceTree tree = {{"cli/a.h", IncludeOf("cli/b.h")},
                           {"cli/b.h", IncludeOf("cli/c.h")},
                           {"cli/c.h", IncludeOf("cli/a.h")}};
  EXPECT_THAT(CheckModuleCycles(tree), ElementsAre("cli/a -> cli/b -> cli/c -> cli/a"));
}

TEST(IncludeCyclesTest, TwoWaysToOneModuleAreNoCycle) {
  const SourceTree tree = {{"cli/a.h", IncludeOf("cli/b.h") + IncludeOf("cli/c.h")},
                           {"cli/b.h", IncludeOf("cli/d.h")},
                           {"cli/c.h", IncludeOf("cli/d.h")},
                           {"cli/d.h", "#include <string>\n"}};
  EXPECT_THAT(CheckModuleCycles(tree), IsEmpty());
}

TEST(IncludeCyclesTest, FoldersMayNotIncludeEachOther) {
  const SourceTree tree = {{"cli/dev/a.h", IncludeOf("cli/data/b.h")},
                           {"cli/dev/c.h", ""},
                           {"cli/data/b.h", ""},
                           {"cli/data/d.h", IncludeOf("cli/dev/c.h")}};
  EXPECT_THAT(CheckModuleCycles(tree), IsEmpty());
  EXPECT_THAT(CheckFolderCycles(tree), ElementsAre("cli/data -> cli/dev -> cli/data"));
}

TEST(IncludeCyclesTest, FoldersOfTestsMayNotIncludeEachOther) {
  const SourceTree tree = {{"tests/cli/a.h", IncludeOf("tests/fakes/b.h")},
                           {"tests/fakes/b.h", IncludeOf("tests/cli/a.h")}};
  EXPECT_THAT(CheckFolderCycles(tree), ElementsAre("tests/cli -> tests/fakes -> tests/cli"));
}

}  // namespace
}  // namespace trainyard::tidy
