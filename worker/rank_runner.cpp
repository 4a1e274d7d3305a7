#include "worker/rank_runner.h"

#include <boost/asio/post.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;

std::string Name(const RankKey& key) {
  return absl::StrCat("job ", key.attempt.job_id, " attempt ", key.attempt.number, " rank ",
                      key.rank);
}

absl::Status WriteAndLaunch(const RankLauncher& launcher, const LaunchFiles& files,
                            RankLaunch launch) {
  TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(files.spec_path, files.spec_json));
  return launcher.Launch(files.rank_dir,
                         {.argv = std::move(launch.argv),
                          .environment = std::move(launch.environment),
                          .working_directory = std::move(launch.working_directory),
                          .secrets = std::move(launch.secrets)});
}

// True when the rank may run: after OK, and after errors of Launch that do not rule it out.
bool MayRun(const absl::Status& launched) {
  return launched.ok() || absl::IsAlreadyExists(launched) || absl::IsDeadlineExceeded(launched);
}

bool HasEnded(RankPresence presence) {
  return presence == RankPresence::kExited || presence == RankPresence::kVanished;
}

absl::StatusOr<RankObservation> ObserveNow(const std::string& rank_dir) {
  RankObservation observation;
  TRAINYARD_ASSIGN_OR_RETURN(observation.state, ReadRankState(rank_dir));
  if (HasEnded(observation.state.presence)) observation.log_tail = ReadLogTail(rank_dir);
  return observation;
}

}  // namespace

RankRunner::RankRunner(asio::io_context& loop, std::string shim_program, Handler handler,
                       MakeDirectory make_directory)
    : loop_(loop),
      launcher_(std::move(shim_program)),
      handler_(std::move(handler)),
      self_(std::make_shared<RankRunner*>(this)),
      helper_(1),
      directories_(loop, std::move(make_directory)) {}

RankRunner::~RankRunner() {
  self_.reset();
  helper_.join();
}

void RankRunner::Launch(const RankKey& key, LaunchFiles files, RankLaunch launch) {
  if (files.checkpoint_dir.empty()) return LaunchPrepared(key, std::move(files), std::move(launch));
  preparing_.insert(key);
  const std::string checkpoint_dir = files.checkpoint_dir;
  auto prepared =
      std::make_shared<std::pair<LaunchFiles, RankLaunch>>(std::move(files), std::move(launch));
  directories_.MakeDirectory(checkpoint_dir, [this, key, prepared](const absl::Status& status) {
    if (preparing_.erase(key) == 0) return;
    if (!status.ok()) return handler_.on_launch_failed(key, status);
    LaunchPrepared(key, std::move(prepared->first), std::move(prepared->second));
  });
}

void RankRunner::CancelLaunch(const RankKey& key) {
  if (preparing_.erase(key) == 0) return;
  handler_.on_launch_failed(
      key, absl::CancelledError("stopped while its checkpoint directory was being made"));
}

void RankRunner::LaunchPrepared(const RankKey& key, LaunchFiles files, RankLaunch launch) {
  asio::post(helper_, [this, weak = std::weak_ptr(self_), key, files = std::move(files),
                       launch = std::move(launch)]() mutable {
    const std::string rank_dir = files.rank_dir;
    absl::Status status = WriteAndLaunch(launcher_, files, std::move(launch));
    asio::post(loop_, [this, weak, key, rank_dir, status = std::move(status)] {
      if (weak.expired()) return;
      if (!MayRun(status)) {
        handler_.on_launch_failed(key, status);
        return;
      }
      if (!status.ok()) spdlog::warn("{}: {}", Name(key), Text(status));
      handler_.on_launched(key);
      Observe(key, rank_dir);
    });
  });
}

void RankRunner::Signal(const RankKey& key, const std::string& rank_dir, bool kill) {
  asio::post(helper_, [key, rank_dir, kill] {
    const absl::Status status =
        SignalRank(rank_dir, kill ? RankSignal::kKill : RankSignal::kTerminate);
    // NOT_FOUND: the rank has just ended and needs no signal.
    if (status.ok() || absl::IsNotFound(status)) return;
    spdlog::error("{}: cannot send {}: {}", Name(key), kill ? "SIGKILL" : "SIGTERM", Text(status));
  });
}

void RankRunner::Observe(const RankKey& key, const std::string& rank_dir) {
  if (!observing_.insert(key).second) return;
  asio::post(helper_, [this, weak = std::weak_ptr(self_), key, rank_dir] {
    absl::StatusOr<RankObservation> observation = ObserveNow(rank_dir);
    asio::post(loop_, [this, weak, key, rank_dir, observation = std::move(observation)] {
      if (!weak.expired()) Observed(key, rank_dir, observation);
    });
  });
}

void RankRunner::Observed(const RankKey& key, const std::string& rank_dir,
                          const absl::StatusOr<RankObservation>& observation) {
  observing_.erase(key);
  if (!observation.ok()) {
    spdlog::error("{}: {}", Name(key), Text(observation.status()));
    return;
  }
  if (observation->state.presence == RankPresence::kRunning) Watch(key, rank_dir);
  if (HasEnded(observation->state.presence)) watches_.erase(key);
  handler_.on_observed(key, *observation);
}

void RankRunner::Watch(const RankKey& key, const std::string& rank_dir) {
  if (watches_.contains(key)) return;
  absl::StatusOr<UniqueFd> fd = OpenExitWatch(rank_dir);
  // Without a watch the regular observation detects the end, a little later.
  if (!fd.ok()) return;
  asio::posix::stream_descriptor& descriptor =
      watches_.emplace(key, asio::posix::stream_descriptor(loop_, fd->Release())).first->second;
  descriptor.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [this, weak = std::weak_ptr(self_), key, rank_dir](const boost::system::error_code& error) {
        if (error || weak.expired()) return;
        watches_.erase(key);
        Observe(key, rank_dir);
      });
}

}  // namespace trainyard::worker
