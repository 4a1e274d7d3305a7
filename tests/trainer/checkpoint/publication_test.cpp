#include "trainer/checkpoint/publication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/recorded_events.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/fence.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = CheckpointEvent::Kind;

TEST(PublicationTest, ReplacesACheckpointOfTheSameStep) {
  const CheckpointDirectory directory;
  directory.SaveWhole(5, Weights(1), 1);
  directory.SaveWhole(5, Weights(2), 2);
  EXPECT_EQ(ValueIn(directory.Step(5)), 2);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000005"));
}

TEST(PublicationTest, RetentionSparesWhatTheAttemptResumedFrom) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), 1);
  RecordedEvents events;
  CheckpointWriterOptions options = directory.Options(2);
  options.retention = {2, 40};
  options.resumed_from = directory.Step(10) + "/";
  options.on_event = events.Recorder();
  CheckpointWriter writer(options);
  for (int64_t step = 20; step <= 70; step += 10) writer.Save(step, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(),
              ElementsAre("step_000000010", "step_000000040", "step_000000060", "step_000000070"));
  std::vector<int64_t> deleted;
  for (const CheckpointEvent& event : events.Taken()) {
    if (event.kind != Kind::kDeleted) continue;
    deleted.push_back(event.step);
    EXPECT_EQ(event.attempt, 2);
    EXPECT_EQ(event.path, directory.Step(event.step));
  }
  EXPECT_THAT(deleted, ElementsAre(20, 30, 50));
}

// The writer must report a new checkpoint before it deletes older checkpoints. If the writer
// crashed in between, the controller would otherwise know only deleted checkpoints.
TEST(PublicationTest, TellsOfTheNewBeforeItRetiresTheOld) {
  const CheckpointDirectory directory;
  std::vector<std::vector<std::string>> there;
  CheckpointWriterOptions options = directory.Options();
  options.retention.keep_last = 1;
  options.on_event = [&](const CheckpointEvent& event) {
    if (event.kind == Kind::kPublished) there.push_back(directory.Names());
  };
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(1));
  writer.Save(20, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(there, ElementsAre(ElementsAre("step_000000010"),
                                 ElementsAre("step_000000010", "step_000000020")));
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000020"));
}

// A later job starts at step 1 in the directory of an ended job. Neither job may delete the other's
// checkpoints.
TEST(PublicationTest, RetentionLeavesWhatAnotherJobHasPublished) {
  const CheckpointDirectory directory;
  directory.SaveWhole(100, Weights(1), AttemptKey{7, 5});
  directory.SaveWhole(200, Weights(1), AttemptKey{7, 5});
  CheckpointWriterOptions options = directory.Options({8, 1});
  options.retention.keep_last = 1;
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(2));
  writer.Save(20, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000020", "step_000000100", "step_000000200"));
  EXPECT_EQ(LatestCheckpoint(directory.path())->path, directory.Step(20));
}

TEST(PublicationTest, AnAttemptThatIsOverCannotPublishOrDelete) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), 1);
  CheckpointWriterOptions options = directory.Options(1);
  options.retention.keep_last = 1;
  options.on_phase = [&](SavePhase phase) {
    if (phase == SavePhase::kManifestWritten) RaiseFence(directory.path(), {{0, 2}});
  };
  CheckpointWriter writer(options);
  writer.Save(20, {}, Weights(2));
  EXPECT_EQ(CodeOf([&] { writer.Save(30, {}, Weights(3)); }), ExitCode::kFenced);
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kFenced);
  const CheckpointWriter next(directory.Options(2));
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000010"));
  EXPECT_EQ(CodeOf([&] { CheckpointWriter(directory.Options(1)); }), ExitCode::kFenced);
}

// The next attempt starts on another node, where this attempt's lock has no effect. It starts after
// this attempt has checked the fence and before this attempt publishes.
TEST(PublicationTest, AnAttemptThatEndsWhileItPublishesIsFencedWithoutALock) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options(1);
  options.on_phase = [&](SavePhase phase) {
    const LockFile lock_nobody = [](int, int) { return 0; };
    if (phase == SavePhase::kFenceHeld) RaiseFence(directory.path(), {{0, 2}}, lock_nobody);
  };
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(1));
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kFenced);
  EXPECT_FALSE(LatestCheckpoint(directory.path()));
  CheckpointWriter next(directory.Options(2));
  EXPECT_THAT(directory.Names(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::trainer
