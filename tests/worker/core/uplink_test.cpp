#include "worker/core/uplink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/memory_source.h"
#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/fact_log.h"

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

  // Returns everything that can be sent now, such as "fact 3" and "log 1: 0".
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
  Welcome(0);
  uplink_.OnClosed();
  for (int i = 0; i < 3; ++i) AddFact();
  AddFile(1, 0, 50);
  AddFile(1, 1, 50);
  Welcome(2, {{LogOf(1, 1, 1), 20}, {LogOf(9, 9, 9), 7}});
  EXPECT_THAT(Drain(), ElementsAre("fact 3", "log 0: 0", "log 1: 20"));
  EXPECT_EQ(facts_->acknowledged(), 2u);
  uplink_.OnClosed();
  // Before the disconnection, the controller had received more of this log. The controller lost the
  // bytes that were not stored.
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

TEST_F(UplinkTest, KnowsBeforeTheFirstWelcomeWhatWasStored) {
  AddFile(1, 0, 50);
  uplink_.AssumeStored({LogOf(1, 1, 0), 30});
  uplink_.AssumeStored({LogOf(9, 9, 9), 30});
  ASSERT_EQ(uplink_.Positions().size(), 1u);
  EXPECT_EQ(uplink_.Positions()[0].acknowledged, 30);
  EXPECT_EQ(uplink_.in_flight_bytes(), 0);
  Welcome(0, {{LogOf(1, 1, 0), 20}});
  EXPECT_THAT(Drain(), ElementsAre("log 0: 20")) << "the controller knows better";
}

TEST_F(UplinkTest, WhatTheControllerSetsAsideHoldsNobodyUpAndComesAgainAfterWelcome) {
  constexpr int kDamaged = kTotalInFlightBytes / kStreamInFlightBytes;
  for (int rank = 0; rank < kDamaged; ++rank) AddFile(1, rank, kStreamInFlightBytes);
  Welcome(0);
  Drain();
  EXPECT_EQ(uplink_.in_flight_bytes(), kTotalInFlightBytes);
  AddFile(2, 99, 10);
  EXPECT_THAT(Drain(), IsEmpty());
  for (int rank = 0; rank < kDamaged; ++rank) {
    v1::StreamAcknowledged acknowledged;
    *acknowledged.mutable_stream() = LogOf(1, 1, rank);
    acknowledged.set_quarantined(true);
    uplink_.OnStreamAcknowledged(acknowledged);
  }
  EXPECT_EQ(uplink_.in_flight_bytes(), 0);
  EXPECT_THAT(Drain(), ElementsAre("log 99: 0"));
  Welcome(0);
  EXPECT_THAT(Drain(), testing::Contains("log 0: 0"));
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

TEST_F(UplinkTest, OnlyTheStreamsOfTheAttemptAreRemoved) {
  const auto add = [&](const v1::StreamId& id) {
    auto file = std::make_shared<MemoryFile>(MemoryFile{"output"});
    uplink_.AddStream(std::make_unique<MemorySource>(id, file, kPiece));
  };
  add(LogOf(1, 1, 0));
  add(LogOf(1, 2, 0));
  add(LogOf(2, 1, 0));
  uplink_.RemoveStreams({1, 1});
  std::vector<std::string> left;
  for (const StreamPosition& position : uplink_.Positions()) {
    left.push_back(absl::StrCat(position.id.job_id(), "/", position.id.attempt()));
  }
  EXPECT_THAT(left, ElementsAre("1/2", "2/1"));
}

TEST_F(UplinkTest, AStoredOffsetIsAtLeastZero) {
  AddFile(1, 0, 10);
  for (const int64_t stored : {0, -1}) {
    uplink_.AssumeStored({LogOf(1, 1, 0), stored});
    EXPECT_EQ(uplink_.Positions()[0].acknowledged, 0);
    Welcome(0, {{LogOf(1, 1, 0), stored}});
    EXPECT_THAT(Drain(), ElementsAre("log 0: 0"));
  }
}

TEST_F(UplinkTest, ShippedBytesCountEachStoredByteOnceByItsKind) {
  AddFile(1, 0, 100);
  v1::StreamId telemetry = LogOf(1, 1, 0);
  telemetry.set_kind(v1::STREAM_KIND_TELEMETRY);
  auto file = std::make_shared<MemoryFile>(MemoryFile{std::string(7, 'x')});
  uplink_.AddStream(std::make_unique<MemorySource>(telemetry, file, kPiece));
  Welcome(0);
  Drain();
  Acknowledge(LogOf(1, 1, 0), 60);
  Acknowledge(LogOf(1, 1, 0), 100);
  Acknowledge(telemetry, 7);
  EXPECT_EQ(uplink_.shipped_log_bytes(), 100);
  EXPECT_EQ(uplink_.shipped_telemetry_bytes(), 7);
}

TEST_F(UplinkTest, AWindowThatIsExactlyFullIsFull) {
  auto file = std::make_shared<MemoryFile>(MemoryFile{std::string(2 * kStreamInFlightBytes, 'x')});
  uplink_.AddStream(std::make_unique<MemorySource>(LogOf(1, 1, 0), file, kStreamInFlightBytes));
  Welcome(0);
  EXPECT_THAT(Drain(), ElementsAre("log 0: 0"));
  Acknowledge(LogOf(1, 1, 0), 1);
  EXPECT_THAT(Drain(), ElementsAre("log 0: 1048576"));
}

// A controller behind a connection that may break at any time, any number of times. A break loses
// the messages and acknowledgements in transit. Each new Welcome reports what the controller has
// stored.
class LossyController {
 public:
  LossyController(Uplink& uplink, FactLog& facts, unsigned seed)
      : uplink_(uplink), facts_(facts), random_(seed) {}

  void Connect() {
    under_way_.clear();
    acknowledgements_.clear();
    v1::Welcome welcome;
    welcome.set_fact_sequence(fact_sequence_);
    for (const auto& [rank, bytes] : stored_) {
      v1::StreamAcknowledged& stream = *welcome.add_streams();
      *stream.mutable_stream() = LogOf(1, 1, rank);
      stream.set_offset(static_cast<int64_t>(bytes.size()));
    }
    ASSERT_TRUE(uplink_.OnWelcome(welcome).ok());
  }

  void Step() {
    switch (random_() % 8) {
      case 0:
        if (random_() % 10 != 0) return;
        uplink_.OnClosed();
        return Connect();
      case 1:
      case 2:
        return Acknowledge();
      case 3:
      case 4:
        return Receive();
      default:
        if (auto message = uplink_.Next()) under_way_.push_back(*std::move(message));
    }
  }

  const std::string& Stored(int rank) { return stored_[rank]; }
  uint64_t fact_sequence() const { return fact_sequence_; }

 private:
  void Receive() {
    if (under_way_.empty()) return;
    const v1::WorkerMessage message = std::move(under_way_.front());
    under_way_.pop_front();
    if (message.has_fact()) {
      ASSERT_LE(message.fact().sequence(), fact_sequence_ + 1) << "a fact is missing";
      fact_sequence_ = std::max(fact_sequence_, message.fact().sequence());
    } else {
      std::string& stored = stored_[message.log().stream().rank()];
      const auto begin = static_cast<std::size_t>(message.log().begin_offset());
      ASSERT_LE(begin, stored.size()) << "bytes are missing";
      const std::size_t known = stored.size() - begin;
      if (known < message.log().data().size()) stored += message.log().data().substr(known);
    }
    acknowledgements_.push_back(message);
  }

  void Acknowledge() {
    if (acknowledgements_.empty()) return;
    const v1::WorkerMessage message = std::move(acknowledgements_.front());
    acknowledgements_.pop_front();
    if (message.has_fact()) {
      uplink_.OnFactsAcknowledged(message.fact().sequence());
      EXPECT_LE(facts_.acknowledged(), fact_sequence_);
      return;
    }
    v1::StreamAcknowledged acknowledged;
    *acknowledged.mutable_stream() = message.log().stream();
    acknowledged.set_offset(message.log().begin_offset() +
                            static_cast<int64_t>(message.log().data().size()));
    uplink_.OnStreamAcknowledged(acknowledged);
  }

  Uplink& uplink_;
  FactLog& facts_;
  std::mt19937 random_;
  std::deque<v1::WorkerMessage> under_way_;
  std::deque<v1::WorkerMessage> acknowledgements_;
  std::map<int, std::string> stored_;
  uint64_t fact_sequence_ = 0;
};

TEST_F(UplinkTest, EveryByteAndFactArrivesOnceWhateverTheConnectionDoes) {
  constexpr int kRanks = 3;
  LossyController controller(uplink_, *facts_, 20261121);
  std::vector<std::shared_ptr<MemoryFile>> files;
  for (int rank = 0; rank < kRanks; ++rank) {
    files.push_back(std::make_shared<MemoryFile>());
    uplink_.AddStream(std::make_unique<MemorySource>(LogOf(1, 1, rank), files.back(), 37));
  }
  controller.Connect();
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    if (i % 40 == 0) AddFact();
    if (i % 5 == 0) absl::StrAppend(&files[i % kRanks]->bytes, "line ", i, "\n");
    controller.Step();
  }
  for (auto& file : files) file->ended = true;
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) controller.Step();
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(controller.Stored(rank), files[rank]->bytes);
  EXPECT_EQ(controller.fact_sequence(), facts_->last_sequence());
}

}  // namespace
}  // namespace trainyard::worker
