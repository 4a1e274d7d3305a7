#include "trainer/state/best_evaluation.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(BestEvaluationTest, IsTheLowestOfItsSet) {
  BestEvaluation best;
  EXPECT_TRUE(NoteEvaluation({10, {{"val", 3.0}, {"code", 1.0}}}, "val", best)) << "the first";
  EXPECT_FALSE(NoteEvaluation({20, {{"val", 3.0}}}, "val", best)) << "equal is no improvement";
  EXPECT_FALSE(NoteEvaluation({30, {{"val", 3.5}}}, "val", best));
  EXPECT_TRUE(NoteEvaluation({40, {{"val", 2.5}}}, "val", best));
  EXPECT_EQ(best.step, 40);
  EXPECT_EQ(best.loss, 2.5);
}

TEST(BestEvaluationTest, AnotherSetBeginsAnew) {
  BestEvaluation best{10, "val", 1.0};
  EXPECT_TRUE(NoteEvaluation({20, {{"val", 0.5}, {"code", 9.0}}}, "code", best));
  EXPECT_EQ(best.set, "code");
  EXPECT_EQ(best.loss, 9.0);
}

TEST(BestEvaluationTest, ALossThatIsNotThereIsNoImprovement) {
  BestEvaluation best;
  EXPECT_FALSE(NoteEvaluation({10, {}}, "val", best));
  EXPECT_EQ(best.step, -1);
}

}  // namespace
}  // namespace trainyard::trainer
