// Starts, signals and observes ranks on helper threads, so that the loop never waits for a process
// or a file server.
#ifndef TRAINYARD_WORKER_RANK_RUNNER_H_
#define TRAINYARD_WORKER_RANK_RUNNER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/guarded_path.h"
#include "worker/core/attempts.h"
#include "worker/core/process_launch.h"
#include "worker/core/shim_watch.h"
#include "worker/directory_maker.h"
#include "worker/process/rank_process.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {

// Files and directories that a launch creates before the program starts.
struct LaunchFiles {
  RankPlace place;
  // The rank's own directory, TRAINYARD_RUN_DIR.
  GuardedPath run_dir;
  std::string spec_path;
  std::string spec_json;
  // Id of the code snapshot that must be on this node; empty for none.
  std::string code_snapshot;
  // Created if missing; empty for none.
  std::string checkpoint_dir;
  // Called on a helper thread once the directory exists; may be null.
  std::function<void()> before_start = nullptr;
  // See RankCommand::processes_max.
  int64_t processes_max = 0;
};

// The state of a rank, from its files and the process table. `log_tail` contains the last lines of
// its output and is set once the rank has ended. `processes` includes threads; `processes` is 0 if
// ranks have no control groups.
struct RankObservation {
  RankState state;
  std::string log_tail;
  int64_t processes = 0;
};

// Call all functions on the loop's thread. The handler is called on that thread too.
class RankRunner {
 public:
  struct Handler {
    // Called if the rank was not spawned and has no process. The last argument is the side at
    // fault.
    std::function<void(const RankKey&, const absl::Status&, v1::StartFault)> on_launch_failed;
    // Called if the rank was spawned or may have been. on_observed will report the rank's state.
    std::function<void(const RankKey&)> on_launched;
    std::function<void(const RankKey&, const RankObservation&)> on_observed;
    // Called when a kill was delivered. `waits_in_kernel` is true if all living processes of the
    // rank wait in the kernel.
    std::function<void(const RankKey&, bool waits_in_kernel)> on_killed;
  };

  // Creates a directory and its parents. May hang as long as the file server does not answer.
  // Called on any thread.
  using MakeDirectory = DirectoryMaker::Make;

  // Fetches a code snapshot, given by its id. May take minutes. Called on any thread.
  using PrepareCode = DirectoryMaker::Make;

  // `shim_program` is the worker's own binary.
  RankRunner(boost::asio::io_context& loop, std::string shim_program, Handler handler,
             MakeDirectory make_directory = MakeGroupDirectories, PrepareCode prepare_code = {});
  // Waits for running launches, signals and observations, but not for checkpoint directories. Does
  // not call the handler.
  ~RankRunner();

  void Launch(const RankKey& key, LaunchFiles files, ProcessLaunch launch);
  // Fails a launch that still waits for its code or its checkpoint directory. Otherwise does
  // nothing.
  void CancelLaunch(const RankKey& key);
  // Sends SIGTERM, or SIGKILL if `kill` is true. If another kill of the rank is already queued, the
  // two are merged.
  void Signal(const RankKey& key, const RankPlace& place, bool kill);
  // Sends SIGUSR1, or SIGUSR2 if `second` is true, to the rank's own process.
  void SendUserSignal(const RankKey& key, const RankPlace& place, bool second);
  // Observes the rank now and, if the rank is running, again when the rank ends. Kills the
  // processes left by an ended rank if no shim kills them.
  void Observe(const RankKey& key, const RankPlace& place);
  // Call when the attempt's ranks are gone and will not be started again.
  void Forget(const AttemptKey& attempt);

 private:
  using Lane = boost::asio::strand<boost::asio::thread_pool::executor_type>;

  void LaunchWithCode(const RankKey& key, LaunchFiles files, ProcessLaunch launch);
  void LaunchPrepared(const RankKey& key, LaunchFiles files, ProcessLaunch launch);
  void Kill(const RankKey& key, const RankPlace& place);
  void UrgeShim(const RankKey& key, const RankPlace& place, bool overdue);
  void Observed(const RankKey& key, const RankPlace& place,
                const absl::StatusOr<RankObservation>& observation);
  void Watch(const RankKey& key, const RankPlace& place);
  Lane& LaneOf(const RankKey& key);

  boost::asio::io_context& loop_;
  const RankLauncher launcher_;
  const Handler handler_;
  // Ranks that wait for their code or for the creation of their checkpoint directory.
  std::set<RankKey> preparing_;
  // Ranks that are being observed. There is at most one observation per rank, so that observations
  // do not pile up on a slow disk.
  std::set<RankKey> observing_;
  // Ranks with a queued or running kill.
  std::set<RankKey> killing_;
  // Ranks that were observed a second time because no watch could be opened for them.
  std::set<RankKey> ended_unwatched_;
  ShimWatch shims_;
  std::map<RankKey, boost::asio::posix::stream_descriptor> watches_;
  // Destroyed with this object, so that later results are ignored.
  std::shared_ptr<RankRunner*> self_;
  // Several threads, so that a rank that blocks one thread, for example because its files are on a
  // hanging disk, does not delay signals to other ranks.
  boost::asio::thread_pool helpers_;
  // The queue of calls for each rank. Calls for one rank must not overlap, and a signal must not
  // overtake a launch.
  std::map<RankKey, Lane> lanes_;
  // Creates checkpoint directories, which are on shared storage. While that storage hangs, this
  // node must still be able to start, signal and observe other jobs.
  DirectoryMaker directories_;
  // Fetches code. Ranks of one snapshot share one thread.
  DirectoryMaker codes_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_RUNNER_H_
