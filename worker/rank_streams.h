// The streams that send a rank's files to the controller. The rank's progress is read from these
// files too.
#ifndef TRAINYARD_WORKER_RANK_STREAMS_H_
#define TRAINYARD_WORKER_RANK_STREAMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "proto/parsers/log_parser.h"
#include "proto/support/clock.h"
#include "proto/support/guarded_path.h"
#include "trainyard/v1/worker_control.pb.h"
#include "worker/core/attempts.h"
#include "worker/core/uplink.h"
#include "worker/tail/first_match.h"
#include "worker/tail/rank_account.h"
#include "worker/tail/record_tail.h"

namespace trainyard::worker {

// The offset at which the newest read of a stream failed with a permanent error; nullopt if the
// newest read succeeded.
struct BrokenAt {
  std::optional<int64_t> offset;
};

// The files of one rank, and the objects that read them. Call all functions on the loop's thread.
class RankStreams {
 public:
  struct Paths {
    GuardedPath output;
    GuardedPath telemetry;
  };

  // `gone` must return true once the rank can no longer write. If the job has a log parser, the
  // rank whose output is parsed also gets a stream of parsed output. `clock` must outlive the
  // sources.
  RankStreams(const v1::StartAttempt& attempt, const RankKey& key, Paths paths,
              std::function<bool()> gone, const Clock& clock);

  // Returns sources for the uplink. The sources do not refer to this object.
  std::vector<std::unique_ptr<StreamSource>> MakeSources() const;

  // Sets step, phase, newest statistics and last activity in the report. Reads the bytes written
  // since the last call.
  void Report(v1::RankReport& report);

  // Returns the newest step of the rank. Reads the bytes written since the last call.
  int64_t ReadStep();

  // Returns the end offsets of the streams. The offsets are final once the rank is gone. If reading
  // a stream fails permanently, the stream ends where the last successful read ended. The rest is
  // never sent, and nothing may wait for it.
  std::vector<v1::StreamEnd> Ends() const;

 private:
  v1::StreamId Id(v1::StreamKind kind) const;
  v1::StreamEnd EndOf(v1::StreamKind kind, const GuardedPath& path, const BrokenAt& broken) const;
  void ReadProgress();

  const RankKey key_;
  const GuardedPath output_path_;
  const GuardedPath telemetry_path_;
  const std::function<bool()> gone_;
  const Clock& clock_;
  // Null if this rank's output is not parsed.
  std::shared_ptr<const LogParser> parser_;
  // False if the output is parsed only for the reports of a launcher, or not at all.
  const bool reads_metrics_;
  FirstMatch first_match_;
  // Shared with the sources.
  std::shared_ptr<RankAccount> account_;
  std::shared_ptr<RecordTail> telemetry_;
  // Null if this rank's output is not parsed.
  std::shared_ptr<RecordTail> parsed_output_;
  // The read errors of the streams of telemetry, output and parsed output.
  const std::shared_ptr<BrokenAt> broken_telemetry_ = std::make_shared<BrokenAt>();
  const std::shared_ptr<BrokenAt> broken_output_ = std::make_shared<BrokenAt>();
  const std::shared_ptr<BrokenAt> broken_parsed_ = std::make_shared<BrokenAt>();
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_STREAMS_H_
