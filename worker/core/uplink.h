// Decides which message is sent to the controller next: facts in order, then bytes of the ranks'
// files, each resumed after the last byte stored by the controller. Its state can be rebuilt from
// the disk and a Welcome.
#ifndef TRAINYARD_WORKER_CORE_UPLINK_H_
#define TRAINYARD_WORKER_CORE_UPLINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"
#include "worker/core/fact_queue.h"
#include "worker/core/stream_position.h"

namespace trainyard::worker {

// Limits on data sent but not yet acknowledged. The last piece of a stream may exceed its limit by
// the piece's size.
inline constexpr int64_t kStreamInFlightBytes = 1 << 20;
inline constexpr int64_t kTotalInFlightBytes = 16 << 20;
inline constexpr uint64_t kFactsInFlight = 1024;

// One append-only file of a rank.
class StreamSource {
 public:
  struct Piece {
    // A TelemetryBatch or LogChunk that begins at the requested offset.
    v1::WorkerMessage message;
    int64_t end_offset = 0;
  };
  virtual ~StreamSource() = default;
  virtual const v1::StreamId& id() const = 0;
  // Reads the next bytes or records from `offset`; nullopt if there are none (yet).
  virtual std::optional<Piece> Read(int64_t offset) = 0;
  // True when the file no longer grows.
  virtual bool Ended() const = 0;
};

// Used by one thread.
class Uplink {
 public:
  // `facts` must outlive this.
  explicit Uplink(FactQueue& facts) : facts_(facts) {}

  // Adds a stream of an attempt on disk. Its stored offset counts as 0 until the next Welcome.
  void AddStream(std::unique_ptr<StreamSource> source);
  void RemoveStreams(const AttemptKey& attempt);

  // Sets a stored offset from the last run, valid until the first Welcome. Positions then returns
  // it, so that disk space is freed by dropping stored bytes first.
  void AssumeStored(const StreamPosition& stored);

  // Events of the stream: Welcome, acknowledgements, disconnect. OnWelcome returns an error when
  // the facts cannot be written; the stream can still be used.
  absl::Status OnWelcome(const v1::Welcome& welcome);
  void OnFactsAcknowledged(uint64_t sequence);
  void OnStreamAcknowledged(const v1::StreamAcknowledged& acknowledged);
  void OnClosed();

  // The next message; nullopt when nothing is left to send, the windows are full, or the stream is
  // not open.
  std::optional<v1::WorkerMessage> Next();

  // Every stream, in the order in which they were added: oldest attempt first.
  std::vector<StreamPosition> Positions() const;

  // Stream bytes sent but not acknowledged.
  int64_t in_flight_bytes() const;
  // Bytes of output and of telemetry stored by the controller since the worker's start.
  int64_t shipped_log_bytes() const { return shipped_log_bytes_; }
  int64_t shipped_telemetry_bytes() const { return shipped_telemetry_bytes_; }

 private:
  struct Stream {
    std::unique_ptr<StreamSource> source;
    int64_t acknowledged = 0;
    int64_t sent = 0;
    // True when the stream is not read again before the next Welcome: it has ended and was read to
    // the end, or the controller has quarantined it.
    bool drained = false;
  };

  std::optional<v1::WorkerMessage> NextFact();
  std::optional<v1::WorkerMessage> NextPiece(Stream& stream);
  Stream* Find(const v1::StreamId& id);

  FactQueue& facts_;
  std::vector<Stream> streams_;
  // Round-robin position in streams_: a stream with much data must not starve the others.
  std::size_t turn_ = 0;
  int64_t shipped_log_bytes_ = 0;
  int64_t shipped_telemetry_bytes_ = 0;
  bool open_ = false;
  uint64_t fact_sent_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_UPLINK_H_
