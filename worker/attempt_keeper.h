// Carries out the core's decisions about the attempts of this node on the disk and the rank
// processes, and reports the results to the core.
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
#include "worker/spool/attempt_number_log.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/fact_log.h"

namespace trainyard::worker {

// All functions are for the loop's thread.
class AttemptKeeper {
 public:
  struct Options {
    // The worker's own binary, and the program that runs when a job names no command.
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

  // Reads the attempts and facts in the data directory. Hands their streams to the handler. Errors
  // name the file and the cause. `loop`, `data_dir` and `clock` must outlive the result.
  static absl::StatusOr<std::unique_ptr<AttemptKeeper>> Open(boost::asio::io_context& loop,
                                                             const DataDir& data_dir,
                                                             const Clock& clock, Options options,
                                                             Handler handler);

  void Start(const v1::StartAttempt& command);
  void Stop(const v1::StopAttempt& command);
  void Forget(const v1::ForgetAttempt& command);
  void StopAll(Timestamp grace_ms_max);

  // Sends the kills that are due, retries failed writes and checks the ranks' processes. Call a few
  // times a second.
  void Tick();

  // To be called when the controller has acknowledged facts up to facts().acknowledged().
  void FactsAcknowledged();

  FactLog& facts() { return *facts_; }
  // The core, for reading only.
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
  std::unique_ptr<AttemptNumberLog> attempt_numbers_;
  Attempts attempts_;
  std::map<RankKey, RankStreams> streams_;
  // RememberAttempt, RecordFact and RemoveAttempt in order. A failed write of the front is retried.
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
