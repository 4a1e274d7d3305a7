#include "trainer/checkpoint/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/fakes/full_disk.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/checkpoint/recorded_events.h"
#include "trainer/checkpoint/retention.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = CheckpointEvent::Kind;

TEST(CheckpointWriterTest, PublishesAndReports) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options(7));
  CheckpointWriter writer(options);
  const double blocking = writer.Save(100, {{"samples", 5}}, Weights(1));
  writer.Finish();
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kind, Kind::kPublished);
  EXPECT_EQ(taken[0].step, 100);
  EXPECT_EQ(taken[0].attempt, 7);
  EXPECT_EQ(taken[0].path, directory.Step(100));
  EXPECT_EQ(taken[0].bytes, ListCheckpoints(directory.path()).at(0).bytes);
  EXPECT_GT(blocking, 0);
  EXPECT_GE(taken[0].total_seconds, taken[0].blocking_seconds);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000100"));
}

TEST(CheckpointWriterTest, FilesAreSafetensors) {
  const CheckpointDirectory directory;
  std::vector<TensorChunk> chunks = {WholeTensor("bytes", torch::ones({3}, torch::kUInt8)),
                                     {"half", {4, 2}, {2, 0}, torch::ones({2, 2})},
                                     {"half", {4, 2}, {0, 0}, torch::zeros({2, 2})}};
  directory.SaveWhole(1, chunks);
  std::ifstream in(directory.Step(1) + "/rank_00000.safetensors", std::ios::binary);
  uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), 8);
  EXPECT_EQ((length + 8) % 64, 0u);
  std::string header(length, '\0');
  in.read(header.data(), static_cast<std::streamsize>(length));
  const nlohmann::json json = nlohmann::json::parse(header);
  EXPECT_EQ(json["half@2,0"],
            nlohmann::json::parse(R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})"));
  EXPECT_EQ(json["half@0,0"]["data_offsets"], nlohmann::json({16, 32}));
  EXPECT_EQ(json["bytes"],
            nlohmann::json::parse(R"({"dtype":"U8","shape":[3],"data_offsets":[32,35]})"));
}

TEST(CheckpointWriterTest, TensorsMayChangeOnceTheyAreCopied) {
  const CheckpointDirectory directory;
  const std::vector<TensorChunk> weights = Weights(1);
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [&](SavePhase phase) {
    if (phase != SavePhase::kCopied) return;
    for (const TensorChunk& chunk : weights) chunk.tensor.data().add_(1);
  };
  CheckpointWriter writer(options);
  writer.Save(1, {}, weights);
  writer.Save(2, {}, weights);
  writer.Finish();
  EXPECT_EQ(ValueIn(directory.Step(1)), 1);
  EXPECT_EQ(ValueIn(directory.Step(2)), 2);
}

TEST(CheckpointWriterTest, ASecondSaveWaitsForTheFirst) {
  const CheckpointDirectory directory;
  std::promise<void> gate;
  std::atomic<int> copied = 0;
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [&, open = gate.get_future().share()](SavePhase phase) {
    if (phase == SavePhase::kCopied) ++copied;
    if (phase == SavePhase::kChunksWritten && copied == 1) open.wait();
  };
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1));
  std::future<double> second =
      std::async(std::launch::async, [&] { return writer.Save(2, {}, Weights(2)); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  EXPECT_EQ(copied, 1);
  gate.set_value();
  second.get();
  writer.Finish();
  EXPECT_EQ(ListCheckpoints(directory.path()).size(), 2u);
}

TEST(CheckpointWriterTest, CountsWhatTheCallerHasWaitedAsBlocking) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1), SaveKind::kPeriodic, 7.5);
  writer.Finish();
  const CheckpointEvent published = events.Taken().at(0);
  EXPECT_GT(published.blocking_seconds, 7.5);
  EXPECT_GE(published.total_seconds, published.blocking_seconds);
}

TEST(CheckpointWriterTest, TellsWhetherTheNextSaveWouldWait) {
  const CheckpointDirectory directory;
  std::promise<void> gate;
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [open = gate.get_future().share()](SavePhase phase) {
    if (phase == SavePhase::kChunksWritten) open.wait();
  };
  CheckpointWriter writer(options);
  EXPECT_TRUE(writer.WaitUntilIdle(std::chrono::milliseconds(0)));
  writer.Save(1, {}, Weights(1));
  EXPECT_FALSE(writer.WaitUntilIdle(std::chrono::milliseconds(5)));
  gate.set_value();
  EXPECT_TRUE(writer.WaitUntilIdle(std::chrono::seconds(30)));
  writer.Finish();
}

TEST(CheckpointWriterTest, MemoryMadeInAdvanceMayBeTooSmallOrTooLarge) {
  const CheckpointDirectory directory;
  CheckpointWriter writer(directory.Options());
  writer.Reserve({WholeTensor("a", torch::zeros({2})), WholeTensor("b", torch::zeros({100}))});
  const torch::Tensor large = torch::arange(1000), small = torch::arange(3);
  writer.Save(1, {}, {WholeTensor("a", large), WholeTensor("b", small)});
  writer.Finish();
  const CheckpointReader reader(directory.Step(1));
  EXPECT_TRUE(ReadBox(reader, "a", {0}, {1000}).equal(large));
  EXPECT_TRUE(ReadBox(reader, "b", {0}, {3}).equal(small));
}

TEST(CheckpointWriterTest, RefusesChunksThatDoNotFitTogether) {
  const CheckpointDirectory directory;
  CheckpointWriter outside(directory.Options());
  EXPECT_EQ(CodeOf([&] {
              outside.Save(1, {}, {{"w", {4}, {3}, torch::ones({2})}});
            }),
            ExitCode::kInternal);
  CheckpointWriter halves(directory.Options());
  TensorChunk chunk = WholeTensor("w", torch::ones({2}, torch::kBFloat16));
  chunk.low_bits = torch::ones({3}, torch::kInt16);
  EXPECT_EQ(CodeOf([&] { halves.Save(1, {}, {chunk}); }), ExitCode::kInternal);
  CheckpointWriter hole(directory.Options());
  hole.Save(1, {}, {{"w", {4}, {0}, torch::ones({2})}});
  std::string message;
  EXPECT_EQ(CodeOf([&] { hole.Finish(); }, &message), ExitCode::kInternal);
  EXPECT_THAT(message, HasSubstr("tensor w"));
  EXPECT_THAT(directory.Names(), IsEmpty());
}

TEST(CheckpointWriterTest, AFullDiskCostsOneCheckpointAndNotTheRun) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  {
    const FullDisk full(600);
    EXPECT_EQ(CodeOf([&] { writer.Save(1, {}, Weights(1)); }), ExitCode::kOk);
    EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kOk);
  }
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kind, Kind::kFailed);
  EXPECT_EQ(taken[0].step, 1);
  EXPECT_THAT(taken[0].message, HasSubstr("cannot write"));
  EXPECT_THAT(directory.Names(), IsEmpty());
  writer.Save(2, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000002"));
}

// One file of the save is a link to /dev/full, so that writes to the file fail as on a full disk.
class NoSpaceTest : public testing::TestWithParam<const char*> {};

TEST_P(NoSpaceTest, CostsOneCheckpointAndNotTheRun) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  const std::string building = directory.path() + "/" + TemporaryName(1, options.writer, 1);
  std::filesystem::create_directories(building);
  std::filesystem::create_symlink("/dev/full", building + "/" + GetParam());
  EXPECT_EQ(CodeOf([&] { writer.Save(1, {}, Weights(1)); }), ExitCode::kOk);
  EXPECT_EQ(CodeOf([&] { writer.Save(2, {}, Weights(2)); }), ExitCode::kOk);
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kOk);
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].kind, Kind::kFailed);
  EXPECT_THAT(taken[0].message, HasSubstr("No space left on device; free disk space"));
  EXPECT_EQ(taken[1].kind, Kind::kPublished);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000002"));
}

INSTANTIATE_TEST_SUITE_P(EveryFile, NoSpaceTest,
                         testing::Values("rank_00000.safetensors", "rank_00000.json.tmp",
                                         "manifest.json.tmp"));

}  // namespace
}  // namespace trainyard::trainer
