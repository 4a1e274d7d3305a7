// Manages disk, rank processes and streams of the attempts on this node, according to the rules in
// worker/core/attempt_kernel.h.
#ifndef TRAINYARD_WORKER_ATTEMPT_KEEPER_H_
#define TRAINYARD_WORKER_ATTEMPT_KEEPER_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/clock.h"
#include "trainyard/v1/exec.pb.h"
#include "trainyard/v1/node.pb.h"
#include "worker/checkpoint_watch.h"
#include "worker/code_trees.h"
#include "worker/core/attempt_kernel.h"
#include "worker/core/attempts.h"
#include "worker/core/process_launch.h"
#include "worker/core/rank_limits.h"
#include "worker/rank_marks.h"
#include "worker/rank_runner.h"
#include "worker/rank_streams.h"
#include "worker/spool/attempt_folders.h"
#include "worker/spool/attempt_number_log.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/fact_log.h"

namespace trainyard::worker {

// All functions must be called on the loop's thread.
class AttemptKeeper final : public AttemptIo {
 public:
  struct Options {
    // worker_program is the worker's own executable. trainer_program runs the training jobs that
    // have no command, data_program the data jobs.
    std::string worker_program;
    std::string trainer_program;
    std::string data_program;
    // The directory of the secrets that jobs on this node may use. One file per secret.
    std::string secrets_dir;
    v1::Inventory inventory;
    RankLimits limits = {};
    // Network interface with the worker's address; empty if unknown.
    std::string network_interface = "";
    // Null if this worker cannot fetch code.
    std::shared_ptr<CodeTrees> code_trees;
  };
  struct Handler {
    std::function<void(std::unique_ptr<StreamSource>)> on_stream_added;
    std::function<void(const AttemptKey&)> on_attempt_removed;
    // Called when a fact is durable and can be sent.
    std::function<void(const v1::Fact& fact)> on_fact_recorded;
  };

  // Reads the attempts and facts in the data directory and passes the attempts' streams to the
  // handler. Errors name the file and the cause. `loop`, `data_dir` and `clock` must outlive the
  // result.
  static absl::StatusOr<std::unique_ptr<AttemptKeeper>> Open(boost::asio::io_context& loop,
                                                             const DataDir& data_dir,
                                                             const Clock& clock, Options options,
                                                             Handler handler);

  AttemptKernel& kernel() { return kernel_; }
  const AttemptKernel& kernel() const { return kernel_; }
  FactLog& facts() { return *facts_; }
  WorkerTime Now() const;

  // Returns the command to run beside the rank, in its environment. FAILED_PRECONDITION: the rank
  // is not running, or a secret or a variable of its environment is missing now.
  absl::StatusOr<RankCommand> CommandBeside(const RankKey& rank,
                                            const v1::ExecCommand& command) const;
  bool Runs(const RankKey& rank) const;

  // Returns the mark that identifies the rank's processes.
  std::string MarkOf(const RankKey& key) const { return marks_.MarkOf(key); }

 private:
  AttemptKeeper(boost::asio::io_context& loop, const DataDir& data_dir, const Clock& clock,
                Options options, Handler handler, std::unique_ptr<FactLog> facts);
  absl::Status Load();

  absl::Status CreateAttempt(const v1::StartAttempt& command) override;
  absl::Status RememberAttempt(const AttemptKey& attempt) override;
  absl::Status RecordFact(const v1::Fact& fact) override;
  absl::Status RemoveAttempt(const AttemptKey& attempt) override;
  void AddStreams(const v1::StartAttempt& command) override;
  void RemoveStreams(const AttemptKey& attempt) override;
  void Describe(v1::AttemptReport& report) override;
  void Launch(const v1::StartAttempt& command, const RankKey& key) override;
  void CancelLaunch(const RankKey& key) override { runner_.CancelLaunch(key); }
  void Signal(const RankKey& key, bool kill) override;
  void SendUserSignal(const RankKey& key, bool second) override;
  absl::Status WriteOrder(const RankKey& key, const std::string& order) override;
  void Observe(const RankKey& key) override;
  std::string Stacks(int64_t pid) override;
  void Warn(const std::string& text) override;

  void Observed(const RankKey& key, const RankObservation& observation);
  WatchPlaces WatchPlacesOf(const v1::StartAttempt& command, const RankKey& key) const;
  // Returns the newest step of the attempt's ranks on this node; 0 if unknown.
  int64_t NewestStep(const AttemptKey& attempt);
  // Returns false while the rank's end must wait for a look at its checkpoints.
  bool WatchCheckpoints(const RankKey& key, const RankState& state);
  RankPlace PlaceOf(const RankKey& key) const;
  // Fails if a secret of the job is missing.
  absl::StatusOr<LaunchSite> SiteOf(const v1::StartAttempt& command, const RankKey& key) const;
  // Snapshots of all attempts on this node.
  std::set<std::string> CodeInUse() const;
  RankStatus StatusOf(const RankKey& key, const RankObservation& observation) const;
  v1::RankExited ExitOf(const RankKey& key, const RankObservation& observation) const;

  const DataDir& data_dir_;
  const Clock& clock_;
  const Options options_;
  const Handler handler_;
  const AttemptFolders folders_;
  const RankMarks marks_;
  const std::unique_ptr<FactLog> facts_;
  std::unique_ptr<AttemptNumberLog> attempt_numbers_;
  AttemptKernel kernel_;
  std::map<RankKey, RankStreams> streams_;
  RankRunner runner_;
  CheckpointWatch checkpoints_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_ATTEMPT_KEEPER_H_
