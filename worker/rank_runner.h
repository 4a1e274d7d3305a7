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
  // Created if missing; empty for none.
  std::string checkpoint_dir;
  // See RankCommand::processes_max.
  int64_t processes_max = 0;
};

// State of a rank, from its files and the process table. `log_tail`: the last lines of its output,
// set once it has ended. `processes`: includes threads; 0 if ranks have no control groups.
struct RankObservation {
  RankState state;
  std::string log_tail;
  int64_t processes = 0;
};

// All functions, and the handler's calls, are for the loop's thread.
class RankRunner {
 public:
  struct Handler {
    // The rank was not spawned and has no process. The last argument is the side to blame.
    std::function<void(const RankKey&, const absl::Status&, v1::StartFault)> on_launch_failed;
    // The rank was or may have been spawned; on_observed then reports its state.
    std::function<void(const RankKey&)> on_launched;
    std::function<void(const RankKey&, const RankObservation&)> on_observed;
    // A kill was delivered, or found all living processes of the rank waiting in the kernel
    // (`waits_in_kernel`).
    std::function<void(const RankKey&, bool waits_in_kernel)> on_killed;
  };

  // Creates a directory and its parents; may hang as long as a file server does. Any thread.
  using MakeDirectory = DirectoryMaker::Make;

  // `shim_program` is the worker's own binary.
  RankRunner(boost::asio::io_context& loop, std::string shim_program, Handler handler,
             MakeDirectory make_directory = MakeGroupDirectories);
  // Waits for running launches, signals and observations, but not for checkpoint directories. Makes
  // no call to the handler.
  ~RankRunner();

  void Launch(const RankKey& key, LaunchFiles files, ProcessLaunch launch);
  // Fails a launch that is still waiting for its checkpoint directory; else does nothing.
  void CancelLaunch(const RankKey& key);
  // A kill requested while another one of the rank is queued is merged with it.
  void Signal(const RankKey& key, const RankPlace& place, bool kill);
  // Observes the rank now and, if it is running, again when it ends. Kills the processes left by an
  // ended rank if no shim does so.
  void Observe(const RankKey& key, const RankPlace& place);
  // Call it when the attempt's ranks are gone for good.
  void Forget(const AttemptKey& attempt);

 private:
  using Lane = boost::asio::strand<boost::asio::thread_pool::executor_type>;

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
  // Ranks whose checkpoint directory is being created.
  std::set<RankKey> preparing_;
  // Ranks with a running observation: at most one each, so that they do not pile up on a slow disk.
  std::set<RankKey> observing_;
  // Ranks with a queued or running kill.
  std::set<RankKey> killing_;
  // Ranks that were observed again because they could not be watched.
  std::set<RankKey> ended_unwatched_;
  ShimWatch shims_;
  std::map<RankKey, boost::asio::posix::stream_descriptor> watches_;
  // Expires with this object: later results are ignored.
  std::shared_ptr<RankRunner*> self_;
  // Several threads: a rank that blocks one, as with files on a hanging disk, must not delay the
  // signals to others.
  boost::asio::thread_pool helpers_;
  // Calls for one rank must not overlap, and a signal must not overtake a launch.
  std::map<RankKey, Lane> lanes_;
  // Checkpoint directories are on shared storage. While it hangs, other jobs of this node must
  // still be started, signalled and observed.
  DirectoryMaker directories_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_RUNNER_H_
