#include "trainer/checkpoint_tools/commands/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

struct Verdict {
  ExitCode code;
  std::string text;
};

Verdict Verify(const std::string& directory, bool all = false) {
  std::ostringstream out;
  const ExitCode code = VerifyCheckpoints({directory, all}, out);
  return {code, out.str()};
}

void DamageLastByte(const std::string& checkpoint) {
  const std::string file = checkpoint + "/rank_00000.safetensors";
  FlipByte(file, static_cast<int64_t>(std::filesystem::file_size(file)) - 1);
}

TEST(VerifyTest, ASoundCheckpointIsDescribedInOneLine) {
  const CheckpointDirectory directory;
  directory.SaveWhole(7, Weights(1));
  const Verdict verdict = Verify(directory.Step(7));
  EXPECT_EQ(verdict.code, ExitCode::kOk);
  EXPECT_THAT(verdict.text,
              testing::MatchesRegex(directory.Step(7) + " is sound: step 7, 2 tensors in 1 file of "
                                                        "[0-9]+ B, every checksum matches\n"));
}

TEST(VerifyTest, EachFaultHasALineWithFileTensorAndBytes) {
  const CheckpointDirectory directory;
  directory.SaveWhole(7, Weights(1));
  DamageLastByte(directory.Step(7));
  FlipByte(directory.Step(7) + "/rank_00000.safetensors", 10);
  const Verdict verdict = Verify(directory.Step(7));
  EXPECT_EQ(verdict.code, ExitCode::kBadCheckpoint);
  const std::string file = directory.Step(7) + "/rank_00000.safetensors is damaged: ";
  EXPECT_THAT(verdict.text, HasSubstr(file + "the checksum of its header does not match"));
  EXPECT_THAT(verdict.text, HasSubstr(file + "the checksum of tensor b (bytes "));
  EXPECT_THAT(verdict.text, EndsWith(directory.Step(7) + " has 2 faults\n"));
}

TEST(VerifyTest, OfADirectoryTheNewestIsRead) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1));
  directory.SaveWhole(20, Weights(2));
  DamageLastByte(directory.Step(10));
  const Verdict newest = Verify(directory.path());
  EXPECT_EQ(newest.code, ExitCode::kOk) << newest.text;
  EXPECT_THAT(newest.text, HasSubstr(directory.Step(20) + " is sound"));
  EXPECT_THAT(newest.text, EndsWith(": 1 of 1 checked checkpoint is sound\n"));
  const Verdict all = Verify(directory.path(), true);
  EXPECT_EQ(all.code, ExitCode::kBadCheckpoint);
  EXPECT_THAT(all.text, HasSubstr(directory.Step(10) + " has 1 fault\n"));
  EXPECT_THAT(all.text, EndsWith(directory.path() + ": 1 of 2 checked checkpoints is sound\n"));
}

// A checkpoint with an unreadable manifest is not listed, but may be the newest one. Therefore
// verification must report a fault of the directory.
TEST(VerifyTest, AManifestThatCannotBeReadIsAFaultOfTheDirectory) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1));
  directory.SaveWhole(20, Weights(2));
  FlipByte(directory.Step(20) + "/manifest.json", 100);
  const Verdict verdict = Verify(directory.path());
  EXPECT_EQ(verdict.code, ExitCode::kBadCheckpoint);
  EXPECT_THAT(verdict.text, HasSubstr(directory.Step(20) + "/manifest.json is damaged"));
  EXPECT_THAT(verdict.text, HasSubstr(directory.Step(10) + " is sound"));
  EXPECT_THAT(verdict.text, EndsWith(": 1 of 2 checked checkpoints is sound\n"));
}

TEST(VerifyTest, NothingToReadIsAnError) {
  const CheckpointDirectory directory;
  const auto error = [](const std::string& path) {
    return ErrorOf([&] { Verify(path, true); }, ExitCode::kBadCheckpoint);
  };
  EXPECT_THAT(error(directory.path()), HasSubstr("it has no readable manifest.json; name a"));
  EXPECT_THAT(error("/no/such"), HasSubstr("/no/such is not a checkpoint: there is no such dir"));
}

// Temporary files of an interrupted save count neither as a checkpoint nor as a fault.
TEST(VerifyTest, HalfMadeCheckpointsAreNotLookedAt) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1));
  std::filesystem::create_directory(directory.Step(20) + ".tmp-e1-2");
  const Verdict verdict = Verify(directory.path(), true);
  EXPECT_EQ(verdict.code, ExitCode::kOk);
  EXPECT_THAT(verdict.text, Not(HasSubstr(".tmp-")));
}

// Retention keeps deleting a checkpoint while the test lists and reads it.
TEST(VerifyTest, ACheckpointThatIsRemovedMeanwhileIsNoFault) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, Weights(1));
  CheckpointWriterOptions options = directory.Options(2);
  options.retention.keep_last = 1;
  options.resumed_from = directory.Step(1);
  std::atomic<bool> is_over = false;
  std::thread training([&] {
    CheckpointWriter writer(options);
    for (int64_t step = 2; step <= 300; ++step) writer.Save(step, {}, Weights(1));
    writer.Finish();
    is_over = true;
  });
  do {
    const Verdict verdict = Verify(directory.path(), true);
    EXPECT_EQ(verdict.code, ExitCode::kOk) << verdict.text;
  } while (!is_over);
  training.join();
}

}  // namespace
}  // namespace trainyard::trainer
