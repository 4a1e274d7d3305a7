#include "worker/rpc/uplink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/rpc/memory_source.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kPiece = 100 << 10;

class UplinkTest : public testing::Test {
 protected:
  UplinkTest() : facts_(*FactLog::Open(dir_.File("facts"))), uplink_(*facts_) {}

  std::shared_ptr<MemoryFile> AddFile(int64_t job, int rank, std::size_t bytes) {
    auto file = std::make_shared<MemoryFile>(MemoryFile{std::string(bytes, 'x')});
    uplink_.AddStream(std::make_unique<MemorySource>(LogOf(job, 1, rank), file, kPiece));
    return file;
  }

  void AddFact() {
    v1::Fact fact;
    fact.mutable_attempt_cleared()->set_job_id(1);
    ASSERT_TRUE(facts_->Append(fact).ok());
  }

  void Welcome(uint64_t fact_sequence, std::vector<std::pair<v1::StreamId, int64_t>> stored = {}) {
    v1::Welcome welcome;
    welcome.set_fact_sequence(fact_sequence);
    for (const auto& [id, offset] : stored) {
      *welcome.add_streams()->mutable_stream() = id;
      welcome.mutable_streams()->rbegin()->set_offset(offset);
    }
    ASSERT_TRUE(uplink_.OnWelcome(welcome).ok());
  }

  void Acknowledge(const v1::StreamId& id, int64_t offset) {
    v1::StreamAcknowledged acknowledged;
    *acknowledged.mutable_stream() = id;
    acknowledged.set_offset(offset);
    uplink_.OnStreamAcknowledged(acknowledged);
  }

  // Everything that can be sent now, as "fact 3" and "log 1: 0".
  std::vector<std::string> Drain() {
    std::vector<std::string> sent;
    while (const auto message = uplink_.Next()) {
      sent.push_back(message->has_fact()
                         ? "fact " + std::to_string(message->fact().sequence())
                         : "log " + std::to_string(message->log().stream().rank()) + ": " +
                               std::to_string(message->log().begin_offset()));
    }
    return sent;
  }

  TemporaryDir dir_;
  std::unique_ptr<FactLog> facts_;
  Uplink uplink_;
};

TEST_F(UplinkTest, SendsNothingBeforeWelcomeAndAfterClosed) {
  AddFact();
  AddFile(1, 0, 10);
  EXPECT_THAT(Drain(), IsEmpty());
  Welcome(0);
  EXPECT_THAT(Drain(), ElementsAre("fact 1", "log 0: 0"));
  uplink_.OnClosed();
  AddFact();
  EXPECT_THAT(Drain(), IsEmpty());
}

TEST_F(UplinkTest, ResumesFromWhatTheControllerHas) {
  for (int i = 0; i < 3; ++i) AddFact();
  AddFile(1, 0, 50);
  AddFile(1, 1, 50);
  Welcome(2, {{LogOf(1, 1, 1), 20}, {LogOf(9, 9, 9), 7}});
  EXPECT_THAT(Drain(), ElementsAre("fact 3", "log 0: 0", "log 1: 20"));
  EXPECT_EQ(facts_->acknowledged(), 2u);
  uplink_.OnClosed();
  // The controller lost what it had not yet stored.
  Welcome(2, {{LogOf(1, 1, 1), 10}});
  EXPECT_THAT(Drain(), ElementsAre("fact 3", "log 0: 0", "log 1: 10"));
}

TEST_F(UplinkTest, FactsOvertakeBytes) {
  AddFile(1, 0, 3 * kPiece);
  Welcome(0);
  EXPECT_TRUE(uplink_.Next()->has_log());
  AddFact();
  EXPECT_TRUE(uplink_.Next()->has_fact());
}

TEST_F(UplinkTest, StreamsTakeTurns) {
  AddFile(1, 0, 3 * kPiece);
  AddFile(1, 1, 10);
  AddFile(1, 2, 10);
  Welcome(0);
  EXPECT_THAT(Drain(),
              ElementsAre("log 0: 0", "log 1: 0", "log 2: 0", "log 0: 102400", "log 0: 204800"));
}

TEST_F(UplinkTest, WindowOfAStreamOpensWithItsAcknowledgement) {
  AddFile(1, 0, 4 << 20);
  Welcome(0);
  const std::size_t window = (kStreamInFlightBytes + kPiece - 1) / kPiece;
  EXPECT_EQ(Drain().size(), window);
  EXPECT_EQ(uplink_.in_flight_bytes(), static_cast<int64_t>(window * kPiece));
  Acknowledge(LogOf(1, 1, 0), 2 * kPiece);
  EXPECT_EQ(Drain().size(), 2u);
}

TEST_F(UplinkTest, OneFullWindowDoesNotHoldUpOthersUntilTheTotalIsReached) {
  for (int rank = 0; rank < 40; ++rank) AddFile(1, rank, 2 << 20);
  Welcome(0);
  while (uplink_.Next()) {
  }
  EXPECT_GE(uplink_.in_flight_bytes(), kTotalInFlightBytes);
  EXPECT_LT(uplink_.in_flight_bytes(), kTotalInFlightBytes + static_cast<int64_t>(kPiece));
}

TEST_F(UplinkTest, AcknowledgementNeverGoesBackOrBeyondWhatWasSent) {
  AddFile(1, 0, 100);
  Welcome(0);
  Drain();
  Acknowledge(LogOf(1, 1, 0), 60);
  Acknowledge(LogOf(1, 1, 0), 40);
  EXPECT_EQ(uplink_.in_flight_bytes(), 40);
  Acknowledge(LogOf(1, 1, 0), 1000);
  EXPECT_EQ(uplink_.in_flight_bytes(), 0);
  Acknowledge(LogOf(5, 5, 5), 1000);
  AddFact();
  uplink_.OnFactsAcknowledged(1);
  EXPECT_EQ(facts_->acknowledged(), 0u) << "it was not sent yet";
  Drain();
  uplink_.OnFactsAcknowledged(1);
  EXPECT_EQ(facts_->acknowledged(), 1u);
}

TEST_F(UplinkTest, FactsInFlightAreBounded) {
  for (uint64_t i = 0; i < kFactsInFlight + 5; ++i) AddFact();
  Welcome(0);
  EXPECT_EQ(Drain().size(), kFactsInFlight);
  uplink_.OnFactsAcknowledged(3);
  EXPECT_THAT(Drain(), ElementsAre("fact 1025", "fact 1026", "fact 1027"));
}

TEST_F(UplinkTest, GrowingFileIsFollowed) {
  auto file = AddFile(1, 0, 10);
  Welcome(0);
  EXPECT_THAT(Drain(), ElementsAre("log 0: 0"));
  file->bytes += "more";
  EXPECT_THAT(Drain(), ElementsAre("log 0: 10"));
}

TEST_F(UplinkTest, EndedFileIsReadToItsEndAndThenLeftAlone) {
  auto file = AddFile(1, 0, 10);
  Welcome(0);
  Drain();
  file->bytes += "last";
  file->ended = true;
  EXPECT_THAT(Drain(), ElementsAre("log 0: 10"));
  const int reads = file->reads;
  Drain();
  EXPECT_EQ(file->reads, reads);
  uplink_.OnClosed();
  Welcome(0, {{LogOf(1, 1, 0), 12}});
  EXPECT_THAT(Drain(), ElementsAre("log 0: 12"));
}

TEST_F(UplinkTest, RemovedAttemptIsNotSentAndNotInFlight) {
  AddFile(1, 0, 10);
  AddFile(2, 0, 10);
  Welcome(0);
  EXPECT_EQ(Drain().size(), 2u);
  uplink_.RemoveStreams({1, 1});
  EXPECT_EQ(uplink_.in_flight_bytes(), 10);
  uplink_.OnClosed();
  Welcome(0);
  EXPECT_EQ(Drain().size(), 1u);
}

}  // namespace
}  // namespace trainyard::worker
