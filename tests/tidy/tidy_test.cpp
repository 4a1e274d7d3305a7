// Applies all rules to the real source tree.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tidy/include_cycles.h"
#include "tests/tidy/include_rules.h"
#include "tests/tidy/length_rules.h"
#include "tests/tidy/name_rules.h"
#include "tests/tidy/prose_rules.h"
#include "tests/tidy/source_tree.h"
#include "tests/tidy/term_rules.h"
#include "tests/tidy/tidy_rules.h"

namespace trainyard::tidy {
namespace {

using Rule = Violations (*)(const SourceTree&);

const SourceTree& Tree() {
  static const SourceTree tree = LoadSourceTree(SOURCE_ROOT);
  return tree;
}

void Expect(Rule rule) {
  for (const std::string& violation : rule(Tree())) ADD_FAILURE() << violation;
}

// With a wrong path, every rule would pass, because there would be no files to check.
TEST(TidyTest, SeesTheTree) {
  EXPECT_GT(Tree().size(), 100);
  EXPECT_TRUE(std::any_of(Tree().begin(), Tree().end(), [](const SourceFile& file) {
    return file.path == "controller/core/reconcile.h";
  }));
}

TEST(TidyTest, IncludesRunDownhill) { Expect(CheckIncludeDirection); }
TEST(TidyTest, ModulesHaveNoCycle) { Expect(CheckModuleCycles); }
TEST(TidyTest, FoldersHaveNoCycle) { Expect(CheckFolderCycles); }
TEST(TidyTest, LibrariesStayInTheirFolders) { Expect(CheckLibraries); }
TEST(TidyTest, FactsOfTheContractAreWrittenOnce) { Expect(CheckContractNames); }
TEST(TidyTest, SupportIsSmall) { Expect(CheckSupportSize); }
TEST(TidyTest, PureFoldersArePure) { Expect(CheckPureFolders); }
TEST(TidyTest, RemovalsFollowNoLink) { Expect(CheckRemovals); }
TEST(TidyTest, AttemptsHaveOneName) { Expect(CheckAttemptName); }
TEST(TidyTest, FilesAreShort) { Expect(CheckFileLengths); }
TEST(TidyTest, FunctionsAreShort) { Expect(CheckFunctionLengths); }
TEST(TidyTest, LinesAreClean) { Expect(CheckLines); }
TEST(TidyTest, NamesSaySomething) { Expect(CheckNames); }
TEST(TidyTest, EverySourceFileIsBuilt) { Expect(CheckOrphans); }
TEST(TidyTest, TopLevelFoldersAreDescribed) { Expect(CheckReadmes); }
TEST(TidyTest, FieldsAreCommented) { Expect(CheckFieldComments); }
TEST(TidyTest, HeadersAreGuardedByTheirPath) { Expect(CheckHeaderGuards); }
TEST(TidyTest, ResultsOfTheGpuLibrariesAreChecked) { Expect(CheckDroppedResults); }
TEST(TidyTest, TextsUseTheFieldsWords) { Expect(CheckWords); }
TEST(TidyTest, OneWordNamesOneThing) { Expect(CheckTerms); }
TEST(TidyTest, SentencesBeginWithTheThing) { Expect(CheckOpenings); }
TEST(TidyTest, NamesAreStandardTerms) { Expect(CheckNameParts); }
TEST(TidyTest, CitedDocumentsExist) { Expect(CheckCitations); }

}  // namespace
}  // namespace trainyard::tidy
