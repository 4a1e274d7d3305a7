// Decides which message is sent to the controller next. Facts come first, in order, then bytes of
// the ranks' files. Each file is sent from the first byte that the controller has not stored. The
// state can be rebuilt from the disk and a Welcome.
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

// The limits on data in flight (sent but not yet acknowledged): bytes of one stream, bytes of all
// streams, and facts. The last piece may exceed a byte limit by at most its own size.
inline constexpr int64_t kStreamInFlightBytes = 1 << 20;
inline constexpr int64_t kTotalInFlightBytes = 16 << 20;
inline constexpr uint64_t kFactsInFlight = 1024;

// One append-only file of a rank.
class StreamSource {
 public:
  struct Piece {
    // A TelemetryBatch or a LogChunk that begins at the requested offset.
    v1::WorkerMessage message;
    int64_t end_offset = 0;
  };
  virtual ~StreamSource() = default;
  virtual const v1::StreamId& id() const = 0;
  // Reads the next bytes or records from `offset`; nullopt if there are none now.
  virtual std::optional<Piece> Read(int64_t offset) = 0;
  // True if the file no longer grows.
  virtual bool Ended() const = 0;
};

// Used by one thread.
class Uplink {
 public:
  // `facts` must outlive this object.
  explicit Uplink(FactQueue& facts) : facts_(facts) {}

  // Adds a stream of an attempt on disk. Until the next Welcome, the stored offset is assumed to be
  // 0.
  void AddStream(std::unique_ptr<StreamSource> source);
  void RemoveStreams(const AttemptKey& attempt);

  // Sets the stored offset that the previous run of the worker recorded. Until the first Welcome,
  // Positions returns this offset. If disk space must be freed before the Welcome, bytes before
  // this offset are dropped first, because the controller has stored those bytes.
  void AssumeStored(const StreamPosition& stored);

  // OnWelcome and the next functions report events of the connection: a Welcome, acknowledgements,
  // a disconnect. OnWelcome returns an error if the facts cannot be written; the connection can
  // still be used.
  absl::Status OnWelcome(const v1::Welcome& welcome);
  void OnFactsAcknowledged(uint64_t sequence);
  void OnStreamAcknowledged(const v1::StreamAcknowledged& acknowledged);
  void OnClosed();

  // Returns the next message. Returns nullopt if there is nothing to send, the windows are full, or
  // the connection is not open.
  std::optional<v1::WorkerMessage> Next();

  // Returns the positions of all streams in the order in which the streams were added, so the
  // oldest attempt comes first.
  std::vector<StreamPosition> Positions() const;

  // Bytes of streams that were sent but not yet acknowledged.
  int64_t in_flight_bytes() const;
  // The bytes of output and of telemetry that the controller has stored since the worker's start.
  int64_t shipped_log_bytes() const { return shipped_log_bytes_; }
  int64_t shipped_telemetry_bytes() const { return shipped_telemetry_bytes_; }

 private:
  struct Stream {
    std::unique_ptr<StreamSource> source;
    int64_t acknowledged = 0;
    int64_t sent = 0;
    // True if the stream need not be read before the next Welcome: it has ended and was read to the
    // end, or the controller has quarantined it.
    bool drained = false;
  };

  std::optional<v1::WorkerMessage> NextFact();
  std::optional<v1::WorkerMessage> NextPiece(Stream& stream);
  Stream* Find(const v1::StreamId& id);

  FactQueue& facts_;
  std::vector<Stream> streams_;
  // The position in streams_ at which the next turn begins. Streams take turns, so that a stream
  // with much data does not block the others.
  std::size_t turn_ = 0;
  int64_t shipped_log_bytes_ = 0;
  int64_t shipped_telemetry_bytes_ = 0;
  bool open_ = false;
  uint64_t fact_sent_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_UPLINK_H_
