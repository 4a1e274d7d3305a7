#include "trainer/checkpoint/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Deleted(const RetentionPolicy& policy,
                             const std::vector<std::string>& in_use) {
  std::vector<PublishedCheckpoint> checkpoints;
  for (int64_t step = 10; step <= 60; step += 10) {
    checkpoints.push_back({"/c/" + std::to_string(step), step, {0, 1}, 0});
  }
  std::vector<int64_t> steps;
  for (const auto& checkpoint : CheckpointsToDelete(checkpoints, policy, in_use)) {
    steps.push_back(checkpoint.step);
  }
  return steps;
}

TEST(RetentionTest, KeepsTheLastOnes) {
  EXPECT_THAT(Deleted({2, 0}, {}), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(Deleted({6, 0}, {}), ElementsAre());
  EXPECT_THAT(Deleted({100, 0}, {}), ElementsAre());
  EXPECT_THAT(Deleted({0, 0}, {}), ElementsAre(10, 20, 30, 40, 50));
}

TEST(RetentionTest, RemovesWhatARollbackMadeBadAndDoesNotCountIt) {
  const std::vector<PublishedCheckpoint> checkpoints = {
      {"/c/10", 10, {7, 1}}, {"/c/20", 20, {7, 1}}, {"/c/30", 30, {7, 1}}, {"/c/15", 15, {7, 2}}};
  const auto deleted = [&](const RetentionPolicy& policy) {
    std::vector<int64_t> steps;
    for (const auto& checkpoint : CheckpointsToDelete(checkpoints, policy, {})) {
      steps.push_back(checkpoint.step);
    }
    return steps;
  };
  EXPECT_THAT(deleted({2, 10, 0, "", {{1, 15}}}), ElementsAre(20, 30)) << "milestones, too";
  EXPECT_THAT(deleted({2, 0, 0, "", {{1, 25}}}), ElementsAre(30, 10));
  EXPECT_THAT(deleted({4, 0, 0, "", {{2, 25}}}), ElementsAre(30));
}

TEST(RetentionTest, ReadsTheListOfRollbacks) {
  EXPECT_THAT(ParseRolledBack(""), ElementsAre());
  EXPECT_THAT(ParseRolledBack("2:1500,13:1200"),
              ElementsAre(RolledBack{2, 1500}, RolledBack{13, 1200}));
  for (const char* bad : {"2", "2:", ":5", "2:x", "2:5,", "-1:5", "2:5:6"}) {
    EXPECT_THROW(ParseRolledBack(bad), TrainerError) << bad;
  }
}

TEST(RetentionTest, KeepsMilestonesAndWhatIsInUse) {
  EXPECT_THAT(Deleted({1, 20}, {}), ElementsAre(10, 30, 50));
  EXPECT_THAT(Deleted({1, 0}, {"/c/10", "/c/30"}), ElementsAre(20, 40, 50));
}

PublishedCheckpoint Evaluated(int64_t step, int64_t evaluated, double val, double code = 1) {
  return {
      "/c/" + std::to_string(step), step, {0, 1}, 0, {evaluated, {{"val", val}, {"code", code}}}};
}

TEST(RetentionTest, KeepsTheBestBesideTheOthers) {
  const std::vector<PublishedCheckpoint> checkpoints = {
      Evaluated(10, 10, 3.0, 0.5), Evaluated(20, 20, 1.0), Evaluated(30, 30, 2.0),
      Evaluated(40, 40, 4.0),      {"/c/50", 50, {0, 1}},  Evaluated(60, 60, 5.0)};
  const auto deleted = [&](const RetentionPolicy& policy) {
    std::vector<int64_t> steps;
    for (const auto& checkpoint : CheckpointsToDelete(checkpoints, policy, {})) {
      steps.push_back(checkpoint.step);
    }
    return steps;
  };
  EXPECT_THAT(deleted({1, 0, 0, "val"}), ElementsAre(10, 20, 30, 40, 50));
  EXPECT_THAT(deleted({1, 0, 2, "val"}), ElementsAre(10, 40, 50));
  EXPECT_THAT(deleted({1, 0, 1, "code"}), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(deleted({1, 40, 2, "val"}), ElementsAre(10, 50)) << "milestones stay beside them";
  EXPECT_THAT(deleted({1, 0, 9, "val"}), ElementsAre(50)) << "was not evaluated";
  EXPECT_THAT(deleted({1, 0, 9, "other"}), ElementsAre(10, 20, 30, 40, 50));
}

// A checkpoint saved some steps after an evaluation has other weights than the evaluated ones.
// Therefore the result counts only for the checkpoint nearest to the evaluation.
TEST(RetentionTest, OfOneEvaluationTheNearestCheckpointCounts) {
  const std::vector<PublishedCheckpoint> checkpoints = {
      Evaluated(10, 10, 1.0), Evaluated(15, 10, 1.0), Evaluated(20, 20, 2.0),
      Evaluated(30, 30, 1.0)};
  EXPECT_THAT(BestCheckpoints(checkpoints, "val", 3), ElementsAre("/c/10", "/c/30", "/c/20"));
  EXPECT_THAT(BestCheckpoints(checkpoints, "val", 1), ElementsAre("/c/10"));
  EXPECT_THAT(BestCheckpoints(checkpoints, "val", 0), ElementsAre());
}

// A checkpoint stores the results of its evaluation. A later attempt can therefore compare its own
// checkpoints with those of earlier attempts.
TEST(RetentionTest, JudgesCheckpointsOfAllAttempts) {
  const CheckpointDirectory directory;
  const auto save = [&](int64_t attempt, int64_t step, double loss) {
    CheckpointWriterOptions options = directory.Options(attempt);
    options.retention = {.keep_last = 1, .keep_best = 1, .best_set = "val"};
    std::optional<double> told;
    options.on_event = [&](const CheckpointEvent& event) {
      if (event.kind == CheckpointEvent::Kind::kPublished) told = event.loss;
    };
    CheckpointWriter writer(options);
    nlohmann::json state;
    AddEvaluation({step, {{"val", loss}}}, state);
    writer.Save(step, state, Weights(1));
    writer.Finish();
    EXPECT_EQ(told, loss);
  };
  save(1, 10, 2.0);
  save(1, 20, 1.0);
  save(2, 30, 3.0);
  save(3, 40, 4.0);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000020", "step_000000040"));
}

TEST(RetentionTest, AnEvaluationThatIsMalformedCountsAsNone) {
  nlohmann::json state = {{"step", 5}};
  AddEvaluation({}, state);
  EXPECT_EQ(state.size(), 1u);
  AddEvaluation({7, {{"val", 1.5}}}, state);
  EXPECT_EQ(EvaluationIn(state).step, 7);
  EXPECT_EQ(EvaluationIn(state).LossOn("val"), 1.5);
  EXPECT_EQ(EvaluationIn(state).LossOn("code"), std::nullopt);
  state["evaluation"]["losses"]["val"] = "low";
  EXPECT_EQ(EvaluationIn(state).LossOn("val"), std::nullopt);
  for (const char* text : {R"(5)", R"({"step": "x", "losses": {}})", R"({"step": 1})"}) {
    state["evaluation"] = nlohmann::json::parse(text);
    EXPECT_EQ(EvaluationIn(state).step, -1) << text;
  }
  EXPECT_EQ(EvaluationIn(nullptr).step, -1);
}

// Outside of a job, every run is attempt 1. Therefore a run also removes the unfinished files of
// the previous run.
TEST(RetentionTest, RemovesWhatOlderAttemptsAndItsOwnHaveLeft) {
  const CheckpointDirectory directory;
  for (const char* name : {"step_000000010.tmp-e1-1", "step_000000010.tmp-e12-1",
                           "step_000000020.tmp-e2-3", "step_000000020.tmp-j1-e1-1",
                           "step_000000020", "notes.tmp-e1-1", "step_000000030.tmp-eX"}) {
    std::filesystem::create_directories(directory.path() + "/" + name + "/inside");
  }
  RemoveAbandoned(directory.path(), {{0, 2}});
  EXPECT_THAT(directory.Names(),
              ElementsAre("notes.tmp-e1-1", "step_000000010.tmp-e12-1", "step_000000020",
                          "step_000000020.tmp-j1-e1-1", "step_000000030.tmp-eX"));
  RemoveAbandoned(directory.path() + "/missing", {{0, 2}});
}

TEST(RetentionTest, RemovesWhatEarlierJobsHaveLeft) {
  const CheckpointDirectory directory;
  for (const WriterKey& owner : {WriterKey{{0, 9}}, WriterKey{{7, 8}}, WriterKey{{8, 1}},
                                 WriterKey{{8, 2}}, WriterKey{{9, 1}}}) {
    std::filesystem::create_directories(directory.path() + "/" + TemporaryName(10, owner, 3));
  }
  RemoveAbandoned(directory.path(), {{8, 1}});
  EXPECT_THAT(directory.Names(),
              ElementsAre("step_000000010.tmp-j8-e2-3", "step_000000010.tmp-j9-e1-3"));
}

}  // namespace
}  // namespace trainyard::trainer
