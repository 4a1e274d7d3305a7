// Decides what goes up the stream next: facts in order, then bytes of the ranks' files, each
// resumed from what the controller has stored. Holds nothing that the disk does not hold.
#ifndef TRAINYARD_WORKER_RPC_UPLINK_H_
#define TRAINYARD_WORKER_RPC_UPLINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"
#include "worker/spool/fact_log.h"
#include "worker/spool/stored_offsets.h"

namespace trainyard::worker {

// Sent and not yet acknowledged, at most; the last piece of a stream may go beyond it by its size.
inline constexpr int64_t kStreamInFlightBytes = 1 << 20;
inline constexpr int64_t kTotalInFlightBytes = 16 << 20;
inline constexpr uint64_t kFactsInFlight = 1024;

// One append-only file of a rank.
class StreamSource {
 public:
  struct Piece {
    // Set: a TelemetryBatch or LogChunk that begins at the offset asked for.
    v1::WorkerMessage message;
    int64_t end_offset = 0;
  };
  virtual ~StreamSource() = default;
  virtual const v1::StreamId& id() const = 0;
  // What stands at `offset`; nullopt when there is nothing (yet).
  virtual std::optional<Piece> Read(int64_t offset) = 0;
  // True when nobody writes to the file any more.
  virtual bool Ended() const = 0;
};

// One thread.
class Uplink {
 public:
  // `facts` must outlive this.
  explicit Uplink(FactLog& facts) : facts_(facts) {}

  // A stream of an attempt on disk; the controller has nothing of it until a Welcome says
  // otherwise.
  void AddStream(std::unique_ptr<StreamSource> source);
  void RemoveStreams(const AttemptKey& attempt);

  // What was known before the first Welcome, which says it anew: for Positions, so that room is
  // made of the right bytes.
  void AssumeStored(const StreamPosition& stored);

  // The controller greets, acknowledges, goes away. An error of OnWelcome is one of facts.bin; the
  // stream can be used all the same.
  absl::Status OnWelcome(const v1::Welcome& welcome);
  void OnFactsAcknowledged(uint64_t sequence);
  void OnStreamAcknowledged(const v1::StreamAcknowledged& acknowledged);
  void OnClosed();

  // The next message; nullopt when nothing is left to send, the windows are full, or nobody
  // listens.
  std::optional<v1::WorkerMessage> Next();

  // Every stream, in the order in which they were added: oldest attempt first.
  std::vector<StreamPosition> Positions() const;

  // Bytes of streams sent and not acknowledged.
  int64_t in_flight_bytes() const;
  // Bytes that the controller has stored since this began: of output, and of telemetry.
  int64_t shipped_log_bytes() const { return shipped_log_bytes_; }
  int64_t shipped_telemetry_bytes() const { return shipped_telemetry_bytes_; }

 private:
  struct Stream {
    std::unique_ptr<StreamSource> source;
    int64_t acknowledged = 0;
    int64_t sent = 0;
    // Not looked at again before the next Welcome: it has ended and was read to the end, or the
    // controller has set it aside.
    bool drained = false;
  };

  std::optional<v1::WorkerMessage> NextFact();
  std::optional<v1::WorkerMessage> NextPiece(Stream& stream);
  Stream* Find(const v1::StreamId& id);

  FactLog& facts_;
  std::vector<Stream> streams_;
  // Where the round over streams_ goes on, so that a chatty one cannot starve the others.
  std::size_t turn_ = 0;
  int64_t shipped_log_bytes_ = 0;
  int64_t shipped_telemetry_bytes_ = 0;
  bool open_ = false;
  uint64_t fact_sent_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RPC_UPLINK_H_
