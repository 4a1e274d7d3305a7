// Tests server and client together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "data/leases/lease_client.h"
#include "data/leases/lease_server.h"
#include "data/stages/binary_part.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LeaseTest : public testing::Test {
 protected:
  LeaseTest() {
    std::vector<InputFile> files;
    for (const char* name : {"a.jsonl", "b.jsonl", "c.jsonl"}) {
      files.push_back({files_.Write(name, "{\"text\": \"wagon\"}\n"), InputKind::kJsonLines});
    }
    PlanLimits limits;
    limits.files_per_block = 1;
    plan_ = *Plan::Make(files, {}, limits);
    std::vector<BlockRecord> records;
    directory_ = *RunDirectory::Open(files_ / "out", *plan_, false, &records);
    totals_.emplace(*plan_, BadLinePolicy());
    queue_ = std::make_unique<BlockQueue>(*plan_, directory_.get(), &*totals_);
  }

  void StartServer(milliseconds request_timeout = std::chrono::seconds(30), size_t peers = 0) {
    LeaseServerSettings settings;
    settings.group = "group";
    settings.key_directory = files_.path();
    settings.request_timeout = request_timeout;
    settings.handshake = request_timeout;
    settings.peers = peers;
    settings.farewell = std::chrono::seconds(20);
    server_ = *LeaseServer::Start(settings);
  }

  absl::StatusOr<std::unique_ptr<LeaseClient>> Connect(const std::string& group = "group",
                                                       milliseconds ping = milliseconds(50)) {
    LeaseClientSettings settings;
    settings.host = "localhost";
    settings.port = server_->port();
    settings.group = group;
    settings.key_directory = files_.path();
    settings.connect = std::chrono::seconds(10);
    settings.request_timeout = std::chrono::seconds(10);
    settings.ping = ping;
    return LeaseClient::Connect(settings, cancelled_);
  }

  BlockRecord Process(const BlockLease& lease) {
    auto part = BinaryPartWriter::Create(directory_->names(), lease, "numbers");
    EXPECT_EQ((*part)->AppendNumber(lease.block), absl::OkStatus());
    BlockRecord record;
    record.block = lease.block;
    record.counts.documents_in = 1;
    record.parts = {*(*part)->Finish()};
    return record;
  }

  // Waits until the queue has a free block.
  BlockLease TakeLocally() {
    for (int tries = 0; tries < 1000; ++tries) {
      const auto offer = queue_->TakeWithin(BlockQueue::kLocalHolder, milliseconds(10));
      if (offer.state == BlockQueue::State::kLeased) return offer.lease;
    }
    ADD_FAILURE() << "no block became free";
    return {};
  }

  TextDirectory files_;
  std::atomic<bool> cancelled_ = false;
  std::optional<Plan> plan_;
  std::unique_ptr<RunDirectory> directory_;
  std::optional<RunTotals> totals_;
  std::unique_ptr<BlockQueue> queue_;
  std::unique_ptr<LeaseServer> server_;
};

TEST_F(LeaseTest, AClientProcessesAPass) {
  StartServer();
  server_->Open("filter:documents", plan_->Hash(), queue_.get());
  std::thread helper([this] {
    const auto client = Connect();
    ASSERT_TRUE(client.ok()) << client.status();
    const auto pass = (*client)->Next(0);
    ASSERT_TRUE(pass.ok()) << pass.status();
    ASSERT_TRUE(pass->has_value());
    EXPECT_EQ((*pass)->name, "filter:documents");
    EXPECT_EQ((*pass)->plan, plan_->Hash());
    const auto blocks = (*client)->BlocksOf(**pass);
    for (;;) {
      const auto lease = blocks->Take();
      ASSERT_TRUE(lease.ok()) << lease.status();
      if (!*lease) break;
      EXPECT_EQ(blocks->Commit(**lease, Process(**lease)), absl::OkStatus());
    }
    const auto end = (*client)->Next((*pass)->number);
    ASSERT_TRUE(end.ok()) << end.status();
    EXPECT_FALSE(end->has_value());
  });
  EXPECT_EQ(queue_->Wait(), absl::OkStatus());
  server_->Close();
  server_->Finish(absl::OkStatus());
  helper.join();
  server_.reset();
  EXPECT_THAT(files_.Names(), Not(Contains(StartsWith("lease-"))));
  EXPECT_EQ(totals_->documents_in(), 3);
  EXPECT_TRUE(std::filesystem::exists(files_ / "out/numbers-00002.bin"));
}

TEST_F(LeaseTest, ALostConnectionReturnsItsLeases) {
  StartServer();
  server_->Open("a:b", plan_->Hash(), queue_.get());
  {
    const auto client = Connect();
    ASSERT_TRUE(client.ok()) << client.status();
    const auto blocks = (*client)->BlocksOf({1, "a:b", plan_->Hash()});
    for (size_t block = 0; block < 3; ++block) {
      const auto lease = blocks->Take();
      ASSERT_TRUE(lease.ok() && lease->has_value());
      EXPECT_EQ((*lease)->block, block);
    }
    EXPECT_EQ(queue_->Take(BlockQueue::kLocalHolder).state, BlockQueue::State::kWait);
    EXPECT_EQ(server_->RankOf(queue_->LongestRunning()->holder), 1);
  }
  EXPECT_EQ(TakeLocally().block, 0u);
  EXPECT_EQ(server_->RankOf(queue_->LongestRunning()->holder), 0);
}

// A process that is late still works for an earlier pass.
TEST_F(LeaseTest, RequestsOfAnEarlierPassGetNoBlocks) {
  StartServer();
  server_->Open("a:b", plan_->Hash(), queue_.get());
  const auto client = Connect();
  ASSERT_TRUE(client.ok()) << client.status();
  const auto blocks = (*client)->BlocksOf({1, "a:b", plan_->Hash()});
  server_->Close();
  server_->Open("a:c", plan_->Hash(), queue_.get());
  const auto late = blocks->Take();
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_FALSE(late->has_value());
  const auto next = (*client)->BlocksOf({2, "a:c", plan_->Hash()})->Take();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_TRUE(next->has_value());
}

TEST_F(LeaseTest, ASilentConnectionLosesItsLeases) {
  StartServer(milliseconds(200));
  server_->Open("a:b", plan_->Hash(), queue_.get());
  const auto silent = Connect("group", std::chrono::hours(1));
  ASSERT_TRUE(silent.ok()) << silent.status();
  ASSERT_TRUE((*silent)->BlocksOf({1, "a:b", plan_->Hash()})->Take().ok());
  const BlockLease second = TakeLocally();
  EXPECT_EQ(second.block, 1u);
  EXPECT_EQ(TakeLocally().block, 2u);
  EXPECT_EQ(TakeLocally().block, 0u);
  const auto next = (*silent)->Next(1);
  EXPECT_EQ(next.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(LeaseTest, PingsKeepAConnection) {
  StartServer(milliseconds(1000));
  server_->Open("a:b", plan_->Hash(), queue_.get());
  const auto client = Connect("group", milliseconds(20));
  ASSERT_TRUE(client.ok()) << client.status();
  const auto blocks = (*client)->BlocksOf({1, "a:b", plan_->Hash()});
  const auto lease = blocks->Take();
  ASSERT_TRUE(lease.ok() && lease->has_value());
  // Longer than the limit. The queue offers the other blocks only.
  const auto end = std::chrono::steady_clock::now() + milliseconds(2500);
  TakeLocally();
  TakeLocally();
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_EQ(queue_->TakeWithin(BlockQueue::kLocalHolder, milliseconds(50)).state,
              BlockQueue::State::kWait);
  }
  EXPECT_EQ(blocks->Commit(**lease, Process(**lease)), absl::OkStatus());
}

TEST_F(LeaseTest, TheEndOfRankZeroIsUnavailable) {
  StartServer();
  const auto client = Connect();
  ASSERT_TRUE(client.ok()) << client.status();
  server_.reset();
  const absl::Status status = (*client)->Next(0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("lost the connection to rank 0"));
}

TEST_F(LeaseTest, TheFailureOfRankZeroReachesTheOthers) {
  StartServer();
  auto client = Connect();
  ASSERT_TRUE(client.ok()) << client.status();
  std::thread finish([this] { server_->Finish(absl::DataLossError("a.jsonl is damaged")); });
  const absl::Status status = (*client)->Next(0).status();
  client->reset();
  finish.join();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.jsonl is damaged"));
}

TEST_F(LeaseTest, TheEndReachesAProcessThatStartsLate) {
  StartServer(std::chrono::seconds(30), /*peers=*/1);
  std::atomic<bool> has_ended = false;
  std::thread finish([&] {
    server_->Finish(absl::OkStatus());
    has_ended = true;
  });
  auto client = Connect();
  ASSERT_TRUE(client.ok()) << client.status();
  const auto next = (*client)->Next(0);
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_FALSE(next->has_value());
  EXPECT_FALSE(has_ended) << "rank 0 has not waited for the process";
  client->reset();
  finish.join();
}

TEST_F(LeaseTest, AFailureOfAClientEndsThePass) {
  StartServer();
  server_->Open("a:b", plan_->Hash(), queue_.get());
  const auto client = Connect();
  ASSERT_TRUE(client.ok()) << client.status();
  const absl::Status failure = absl::FailedPreconditionError("other input files");
  EXPECT_EQ((*client)->FailRun({1, "a:b", plan_->Hash()}, failure), failure);
  const absl::Status status = queue_->Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "rank 1: other input files");
}

TEST_F(LeaseTest, RefusesOtherGroups) {
  StartServer();
  const auto client = Connect("another pipeline");
  EXPECT_EQ(client.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(client.status().message()), HasSubstr("another pipeline file"));
  EXPECT_EQ(server_->peers(), 0);
}

TEST_F(LeaseTest, ReportsAPortInUse) {
  StartServer();
  LeaseServerSettings settings;
  settings.key_directory = files_.path();
  settings.port = server_->port();
  const absl::Status status = LeaseServer::Start(settings).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("choose another MASTER_PORT"));
}

TEST_F(LeaseTest, ConnectEndsWhenCancelled) {
  LeaseClientSettings settings;
  settings.host = "localhost";
  settings.port = 1;
  cancelled_ = true;
  EXPECT_EQ(LeaseClient::Connect(settings, cancelled_).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace trainyard::data
