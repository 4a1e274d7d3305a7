#include "trainer/parallel/rank_agreement.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

TEST(RankAgreementTest, DifferencesAreNamedWithBothValues) {
  const RankFacts here = {{"lr", "1"}, {"same", "x"}, {"only here", "2"}};
  const RankFacts there = {{"lr", "3"}, {"same", "x"}, {"only there", "4"}};
  EXPECT_EQ(FactDifferences(here, there),
            "lr is 1 instead of 3, only here is 2 instead of not set, only there is not set "
            "instead of 4");
  EXPECT_EQ(FactDifferences(here, here), "");
}

TEST(RankAgreementTest, OfManyDifferencesSomeAreNamed) {
  RankFacts here, there;
  for (int i = 0; i < 9; ++i) {
    here[std::to_string(i)] = "a";
    there[std::to_string(i)] = "b";
  }
  const std::string text = FactDifferences(here, there);
  EXPECT_NE(text.find("4 is a instead of b, and 4 more values differ"), std::string::npos) << text;
}

// Returns the errors of three ranks. The ranks in `others` have a different version of the library.
std::vector<std::string> ErrorsOf(const std::set<int64_t>& others) {
  const int64_t port = FreePort();
  std::vector<std::string> errors(3);
  std::vector<std::unique_ptr<Rendezvous>> kept(3);  // Rank 0's hosts the store of the others.
  RunThreads(3, [&](int64_t rank) {
    kept[rank] = std::make_unique<Rendezvous>(Environment(rank, 3, port), std::chrono::seconds(30));
    const char* version = others.contains(rank) ? "2.11" : "2.10";
    try {
      CheckRanksAgree(*kept[rank], rank, 3, {{"LibTorch", version}});
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kBadConfig);
      errors[rank] = error.what();
    }
  });
  return errors;
}

// Every rank must exit. A rank that continued would wait forever for the rejected rank.
TEST(RankAgreementTest, AllRanksEndWithTheReasonOfTheOneThatDiffers) {
  for (const std::string& error : ErrorsOf({2})) {
    EXPECT_EQ(error,
              "Rank 2 differs from rank 0: LibTorch is 2.11 instead of 2.10. Start all "
              "ranks with the same settings and the same installation.");
  }
  for (const std::string& error : ErrorsOf({1, 2})) {
    EXPECT_NE(error.find("Rank 1 differs from rank 0"), std::string::npos) << error;
    EXPECT_NE(error.find("; 1 more ranks differ"), std::string::npos) << error;
  }
  for (const std::string& error : ErrorsOf({})) EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace trainyard::trainer
