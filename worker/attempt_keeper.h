// Carries out what the core decides about the attempts of this node, and tells the core what came
// of it: the disk, the rank processes and the core in one place.
#ifndef TRAINYARD_WORKER_ATTEMPT_KEEPER_H_
#define TRAINYARD_WORKER_ATTEMPT_KEEPER_H_

#include <boost/asio/io_context.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/clock.h"
#include "trainyard/v1/node.pb.h"
#include "worker/core/attempts.h"
#include "worker/core/rank_launch.h"
#include "worker/rank_runner.h"
#include "worker/rank_streams.h"
#include "worker/spool/attempt_folders.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/epoch_log.h"
#include "worker/spool/fact_log.h"

namespace trainyard::worker {

// All functions are for the loop's thread.
class AttemptKeeper {
 public:
  struct Options {
    // The worker's own binary, and what runs when a job names no command.
    std::string worker_program;
    std::string trainer_program;
    // Holds a file for each secret that jobs of this node may name.
    std::string secrets_dir;
    v1::Inventory inventory;
  };
  struct Handler {
    std::function<void(std::unique_ptr<StreamSource>)> on_stream_added;
    std::function<void(const AttemptKey&)> on_attempt_removed;
    // A fact is durable and waits to be sent.
    std::function<void(const v1::Fact& fact)> on_fact_recorded;
  };

  // Reads what stands in the data directory. Streams found there are handed to the handler. Errors
  // name the file and the cause. `loop`, `data_dir` and `clock` must outlive the result.
  static absl::StatusOr<std::unique_ptr<AttemptKeeper>> Open(boost::asio::io_context& loop,
                                                             const DataDir& data_dir,
                                                             const Clock& clock, Options options,
                                                             Handler handler);

  void Start(const v1::StartAttempt& command);
  void Stop(const v1::StopAttempt& command);
  void Forget(const v1::ForgetAttempt& command);
  void StopAll(Timestamp grace_ms_max);

  // To be called a few times a second: kills that are due, writes that failed before, and the
  // ranks' processes.
  void Tick();

  // After facts were acknowledged up to facts().acknowledged().
  void FactsAcknowledged();

  FactLog& facts() { return *facts_; }
  // The core, to be looked at.
  const Attempts& attempts() const { return attempts_; }
  bool AnyAlive() const { return attempts_.AnyAlive(); }
  // True when every action's record is on disk.
  bool AllWritten() const { return unwritten_.empty(); }
  std::vector<v1::AttemptReport> Reports();

 private:
  AttemptKeeper(boost::asio::io_context& loop, const DataDir& data_dir, const Clock& clock,
                Options options, Handler handler);
  absl::Status Load();
  void AddStreams(const v1::StartAttempt& command);

  void CarryOut(Actions actions);
  void CarryOutOne(const Action& action);
  void Create(const AttemptKey& key);
  LaunchSite SiteOf(const RankKey& key) const;
  void Spawn(const RankKey& key);
  void WriteAhead();
  absl::Status Write(const Action& action);

  void OnLaunchFailed(const RankKey& key, const absl::Status& status);
  void OnObserved(const RankKey& key, const RankObservation& observation);
  v1::RankExited ExitOf(const RankKey& key, const RankObservation& observation) const;

  const DataDir& data_dir_;
  const Clock& clock_;
  const Options options_;
  const Handler handler_;
  const AttemptFolders folders_;
  std::unique_ptr<FactLog> facts_;
  std::unique_ptr<EpochLog> epochs_;
  Attempts attempts_;
  std::map<RankKey, RankStreams> streams_;
  // RememberEpoch, RecordFact and RemoveAttempt in order; the front is tried again when the disk
  // refuses it.
  std::deque<Action> unwritten_;
  std::string last_write_error_;
  Timestamp retry_write_at_ms_ = 0;
  Timestamp observe_at_ms_ = 0;
  // Acknowledged facts that FactsAcknowledged has seen.
  uint64_t acknowledged_seen_ = 0;
  RankRunner runner_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ATTEMPT_KEEPER_H_
