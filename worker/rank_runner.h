// Starts, signals and observes ranks on helper threads, so that the loop never waits for a process
// or a file server.
#ifndef TRAINYARD_WORKER_RANK_RUNNER_H_
#define TRAINYARD_WORKER_RANK_RUNNER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/core/attempts.h"
#include "worker/core/rank_launch.h"
#include "worker/process/rank_process.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {

// What a launch writes and makes before the program starts.
struct LaunchFiles {
  std::string rank_dir;
  std::string spec_path;
  std::string spec_json;
  // Made when missing; empty for none.
  std::string checkpoint_dir;
};

// What became of a rank by its files and the process table; its output's tail once it has ended.
struct RankObservation {
  RankState state;
  std::string log_tail;
};

// All functions are for the loop's thread, and so are the handler's calls.
class RankRunner {
 public:
  struct Handler {
    // Never spawned: nothing of the rank runs.
    std::function<void(const RankKey&, const absl::Status&)> on_launch_failed;
    // The launch was answered; observations tell the rest.
    std::function<void(const RankKey&)> on_launched;
    std::function<void(const RankKey&, const RankObservation&)> on_observed;
  };

  // Makes a directory with its parents; may hang as long as a file server does. Any thread.
  using MakeDirectory = std::function<absl::Status(const std::string&)>;

  // `shim_program` is the worker's own binary.
  RankRunner(boost::asio::io_context& loop, std::string shim_program, Handler handler,
             MakeDirectory make_directory = MakeDirectories);
  // Waits for what is under way; calls nothing of the handler.
  ~RankRunner();

  void Launch(const RankKey& key, LaunchFiles files, RankLaunch launch);
  void Signal(const RankKey& key, const std::string& rank_dir, bool kill);
  // Looks at the rank now and, when it runs, again the moment it ends.
  void Observe(const RankKey& key, const std::string& rank_dir);

 private:
  void LaunchPrepared(const RankKey& key, LaunchFiles files, RankLaunch launch);
  void Observed(const RankKey& key, const std::string& rank_dir,
                const absl::StatusOr<RankObservation>& observation);
  void Watch(const RankKey& key, const std::string& rank_dir);

  boost::asio::io_context& loop_;
  const RankLauncher launcher_;
  const Handler handler_;
  const MakeDirectory make_directory_;
  // Observations under way, so that a slow disk does not pile them up.
  std::set<RankKey> observing_;
  std::map<RankKey, boost::asio::posix::stream_descriptor> watches_;
  // Handlers that come back after this is gone find it expired.
  std::shared_ptr<RankRunner*> self_;
  // One thread: calls for one rank directory must not overlap, and a signal must not overtake a
  // launch.
  boost::asio::thread_pool helper_;
  // Checkpoints lie on shared storage: where it hangs, it must not keep other jobs of this node
  // from being signalled and observed. Few threads, so that it holds up the starts of few.
  boost::asio::thread_pool directories_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_RANK_RUNNER_H_
