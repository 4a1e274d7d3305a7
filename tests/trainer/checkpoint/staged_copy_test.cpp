#include "trainer/checkpoint/staged_copy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <tuple>

#include "tests/trainer/checkpoint/in_memory_copy_queue.h"
#include "trainer/checkpoint/host_copy.h"

namespace trainyard::trainer {
namespace {

using Stream = SimulatedDevice::Stream;
using torch::Tensor;

// A state in flat buffers with padding, as in a run: two parameters with low bits and one moment.
struct State {
  Tensor values = torch::arange(300).to(torch::kBFloat16);
  Tensor low_bits = torch::arange(300, torch::kInt16);
  Tensor moment = torch::arange(300, torch::kFloat32);
  Tensor columns = torch::arange(12, torch::kFloat32).view({3, 4});

  std::vector<TensorChunk> Chunks(bool has_columns = true) const {
    std::vector<TensorChunk> chunks;
    for (const auto& [name, first, length] : {std::tuple{"a", 0, 100}, {"b", 128, 172}}) {
      chunks.push_back(WholeTensor(name, values.narrow(0, first, length)));
      chunks.back().low_bits = low_bits.narrow(0, first, length);
      chunks.push_back(WholeTensor(std::string("moment.") + name, moment.narrow(0, first, length)));
    }
    if (has_columns) chunks.push_back(WholeTensor("columns", columns.t()));
    return chunks;
  }
  void Update() {
    for (Tensor* tensor : {&values, &low_bits, &moment, &columns}) tensor->mul_(-2).sub_(1);
  }
};

std::vector<Tensor> Copied(const std::vector<TensorChunk>& chunks) {
  std::vector<Tensor> tensors;
  for (const TensorChunk& chunk : chunks) {
    tensors.push_back(chunk.tensor.clone());
    if (chunk.low_bits.defined()) tensors.push_back(chunk.low_bits.clone());
  }
  return tensors;
}

bool AreEqual(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const Tensor& a, const Tensor& b) { return a.equal(b); });
}

class StagedCopyTest : public testing::TestWithParam<std::tuple<int64_t, Stream>> {};

// The copies have the bytes of a save that blocks training, for every amount of staging memory and
// every order in which the device may perform its streams.
TEST_P(StagedCopyTest, HasTheBytesOfABlockingSave) {
  const auto& [free_bytes, preferred] = GetParam();
  SimulatedDevice device(preferred);
  auto owned = std::make_unique<InMemoryCopyQueue>(device, free_bytes);
  InMemoryCopyQueue& queue = *owned;
  queue.times = {.direct = 1, .staged = 1, .to_update = 0.5};
  HostCopy copy(std::move(owned));
  State state;
  for (int save = 0; save < 6; ++save) {
    // Saves 3 and 5 reuse the places of the save before.
    if (save == 4) state.moment = state.moment.clone();
    const std::vector<TensorChunk> chunks = state.Chunks(/*has_columns=*/save < 2);
    const std::vector<Tensor> before = Copied(chunks);
    copy.Begin(chunks);
    copy.BlockChanges();
    device.Queue(Stream::kTraining, [&] { state.Update(); });
    copy.BlockChanges();  // The next step calls it again.
    device.Queue(Stream::kTraining, [&] { state.Update(); });
    copy.Wait();
    EXPECT_TRUE(AreEqual(Copied(copy.chunks()), before)) << "save " << save;
    device.RunAll();
    EXPECT_FALSE(queue.HasStaging());
  }
}

TEST_P(StagedCopyTest, IncludesTheTrainingWorkQueuedBefore) {
  const auto& [free_bytes, preferred] = GetParam();
  SimulatedDevice device(preferred);
  HostCopy copy(std::make_unique<InMemoryCopyQueue>(device, free_bytes));
  State state;
  State after;
  after.columns = state.columns;  // Copied at once, because it is not contiguous.
  after.Update();
  after.columns = state.columns = torch::ones({3, 4});
  device.Queue(Stream::kTraining, [&] { state.Update(); });
  const std::vector<TensorChunk> chunks = state.Chunks();
  copy.Begin(std::vector<TensorChunk>(chunks.begin(), chunks.end() - 1));
  copy.Wait();  // No step follows a final save, so nothing has called BlockChanges.
  const std::vector<TensorChunk> wanted = after.Chunks();
  EXPECT_TRUE(AreEqual(Copied(copy.chunks()), Copied({wanted.begin(), wanted.end() - 1})));
}

// The whole state has 2,472 bytes.
INSTANTIATE_TEST_SUITE_P(All, StagedCopyTest,
                         testing::Combine(testing::Values(0, 700, 1500, 100'000),
                                          testing::Values(Stream::kTraining, Stream::kCopies)));

// Pieces of one buffer of device memory.
struct Bytes {
  explicit Bytes(int64_t pieces, int64_t piece_bytes = 10)
      : device(pieces * piece_bytes), host(pieces * piece_bytes, 0) {
    std::iota(device.begin(), device.end(), '\0');
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t at = i * piece_bytes;
      list.push_back({host.data() + at, device.data() + at, piece_bytes});
    }
  }

  std::vector<char> device;
  std::vector<char> host;
  std::vector<CopyPiece> list;
};

TEST(StagedCopyPiecesTest, LearnsTheSpeedOfTheDevice) {
  SimulatedDevice device(Stream::kCopies);
  auto owned = std::make_unique<InMemoryCopyQueue>(device, 100'000);
  InMemoryCopyQueue& queue = *owned;
  StagedCopy copy(std::move(owned));
  Bytes bytes(100);
  const auto staged_bytes = [&] {
    queue.staged_bytes = 0;
    copy.Begin(bytes.list);
    copy.BlockChanges();
    copy.Wait();
    return queue.staged_bytes;
  };
  EXPECT_EQ(staged_bytes(), 0);
  queue.times = {.direct = 2, .to_update = 1};
  EXPECT_EQ(staged_bytes(), 1000 - 430);  // 0.85 * 500 bytes/s * 1 s, in whole pieces.
  queue.times = {.staging = 0.25, .direct = 9, .staged = 0.1, .to_update = 1};
  EXPECT_EQ(staged_bytes(), 0);
  EXPECT_EQ(copy.staging_seconds(), 0.25);
  queue.times.direct = 0.1;
  EXPECT_EQ(staged_bytes(), 0);
  EXPECT_EQ(copy.staging_seconds(), 0);  // The preceding copy staged nothing.
  EXPECT_EQ(bytes.host, bytes.device);
}

TEST(StagedCopyPiecesTest, CopiesDirectlyIfThereIsNoStagingMemory) {
  SimulatedDevice device(Stream::kTraining);
  auto queue = std::make_unique<InMemoryCopyQueue>(device, 100'000);
  queue->can_allocate = false;
  queue->times = {.direct = 1, .to_update = 0.1};
  StagedCopy copy(std::move(queue));
  Bytes bytes(10);
  const std::vector<char> before = bytes.device;
  copy.Begin(bytes.list);
  copy.Wait();
  copy.Begin(bytes.list);
  copy.BlockChanges();
  device.Queue(Stream::kTraining, [&] { bytes.device.assign(bytes.device.size(), 0); });
  copy.Wait();
  EXPECT_EQ(bytes.host, before);
}

// A small copy of training must not wait for the whole state. 100 pieces of 2 MiB are 12 batches.
TEST(StagedCopyPiecesTest, LimitsTheNumberOfQueuedCopies) {
  for (const int64_t free_bytes : {int64_t{0}, int64_t{1} << 40}) {
    SimulatedDevice device(Stream::kTraining);
    auto queue = std::make_unique<InMemoryCopyQueue>(device, free_bytes);
    queue->times = {.direct = 1, .to_update = 0.1};
    StagedCopy copy(std::move(queue));
    Bytes bytes(100, 2 << 20);
    for (int save = 0; save < 2; ++save) {
      copy.Begin(bytes.list);
      copy.Wait();
      EXPECT_EQ(bytes.host, bytes.device);
    }
    EXPECT_LT(device.most_queued(), 25);
  }
}

// The first snapshot after a heal: training waits for it, and its time until an update is unusual.
TEST(StagedCopyPiecesTest, ACopyAtOnceIsNeitherStagedNorMeasured) {
  SimulatedDevice device(Stream::kCopies);
  auto owned = std::make_unique<InMemoryCopyQueue>(device, 100'000);
  InMemoryCopyQueue& queue = *owned;
  queue.times = {.direct = 1, .to_update = 0.1};
  StagedCopy copy(std::move(owned));
  Bytes bytes(100);
  copy.Begin(bytes.list, CopyPace::kAtOnce);
  copy.Wait();
  EXPECT_EQ(bytes.host, bytes.device);
  for (const CopyPace pace : {CopyPace::kBesideTraining, CopyPace::kAtOnce}) {
    copy.Begin(bytes.list, pace);
    copy.Wait();
    EXPECT_EQ(queue.staged_bytes, 0);
  }
  copy.Begin(bytes.list);
  copy.Wait();
  EXPECT_EQ(queue.staged_bytes, 910);  // The speed is that of the copy beside training.
}

// The training thread must notice the loss of a rank for which the device waits.
TEST(StagedCopyPiecesTest, ReportsThatTheDeviceWaits) {
  SimulatedDevice device(Stream::kTraining);
  device.Hold();
  StagedCopy copy(std::make_unique<InMemoryCopyQueue>(device, 0));
  EXPECT_TRUE(copy.CanBlockChanges());
  Bytes bytes(100, 2 << 20);
  copy.Begin(bytes.list);
  EXPECT_FALSE(copy.CanBlockChanges());
  device.Release();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!copy.CanBlockChanges() && std::chrono::steady_clock::now() < end) continue;
  EXPECT_TRUE(copy.CanBlockChanges());
  copy.BlockChanges();
  EXPECT_TRUE(copy.CanBlockChanges());
  copy.Wait();
  EXPECT_EQ(bytes.host, bytes.device);
}

TEST(StagedCopyPiecesTest, TheCallersGetTheErrorsOfTheDevice) {
  for (const int64_t copies_until_failure : {0, 1, 5}) {
    SimulatedDevice device(Stream::kCopies);
    auto queue = std::make_unique<InMemoryCopyQueue>(device, 50);
    queue->copies_until_failure = copies_until_failure;
    StagedCopy copy(std::move(queue));
    Bytes bytes(10);
    copy.Begin(bytes.list);
    EXPECT_THROW(copy.Wait(), std::runtime_error);
    EXPECT_THROW(copy.BlockChanges(), std::runtime_error);
  }
}

// The healing drops a copy in the middle.
TEST(StagedCopyPiecesTest, WaitsForTheCopiesAtItsEnd) {
  SimulatedDevice device(Stream::kTraining);
  Bytes bytes(10);
  {
    StagedCopy copy(std::make_unique<InMemoryCopyQueue>(device, 100'000));
    copy.Begin(bytes.list);
  }
  EXPECT_EQ(bytes.host, bytes.device);
}

}  // namespace
}  // namespace trainyard::trainer
