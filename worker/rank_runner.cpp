#include "worker/rank_runner.h"

#include <signal.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/process/rank_group.h"
#include "worker/spool/run_directory.h"
#include "worker/spool/telemetry_reserve.h"

namespace trainyard::worker {
namespace {

namespace asio = boost::asio;

// The number of threads for launches, signals and observations.
constexpr std::size_t kHelpers = 8;

std::string Name(const RankKey& key) {
  return absl::StrCat("job ", key.attempt.job_id, " attempt ", key.attempt.number, " rank ",
                      key.rank);
}

absl::Status WriteAndLaunch(const RankLauncher& launcher, const LaunchFiles& files,
                            ProcessLaunch launch) {
  // The directory was created with the attempt, but the job may have removed it since.
  TRAINYARD_RETURN_IF_ERROR(MakeRunDirectory(files.run_dir));
  if (!WriteFileAtomically(files.spec_path, files.spec_json).ok()) {
    // The job may have put something else in place of its spec file. Move the run directory aside
    // and create a new one.
    TRAINYARD_RETURN_IF_ERROR(MoveAside(files.run_dir));
    TRAINYARD_RETURN_IF_ERROR(MakeRunDirectory(files.run_dir));
    TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(files.spec_path, files.spec_json));
  }
  ReserveFirstTelemetry(files.run_dir);
  if (files.before_start != nullptr) files.before_start();
  return launcher.Launch(files.place, {.argv = std::move(launch.argv),
                                       .environment = std::move(launch.environment),
                                       .working_directory = std::move(launch.working_directory),
                                       .secrets = std::move(launch.secrets),
                                       .processes_max = files.processes_max});
}

// True if the rank may be running. True also for ALREADY_EXISTS and DEADLINE_EXCEEDED (see
// RankLauncher::Launch).
bool MayRun(const absl::Status& launched) {
  return launched.ok() || absl::IsAlreadyExists(launched) || absl::IsDeadlineExceeded(launched);
}

// Returns the side at fault if the shim could not take over. The job is at fault only if no node
// could start the command.
v1::StartFault FaultOfLaunch(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? v1::START_FAULT_JOB : v1::START_FAULT_NODE;
}

// Returns the side at fault if a checkpoint directory cannot be created. Nodes share the directory,
// so a full or failing file server is not the fault of this node. A path that is wrong here may be
// right on another node.
v1::StartFault FaultOfDirectory(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
      return v1::START_FAULT_JOB;
    default:
      return v1::START_FAULT_STORAGE;
  }
}

// Returns the side at fault if the code cannot be fetched. Code that the controller does not have
// is missing for all nodes. A controller that cannot be reached is not the fault of this node.
v1::StartFault FaultOfCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kInvalidArgument:
      return v1::START_FAULT_JOB;
    case absl::StatusCode::kUnavailable:
      return v1::START_FAULT_STORAGE;
    default:
      return v1::START_FAULT_NODE;
  }
}

void LogSignal(const RankKey& key, const char* signal, const absl::Status& status) {
  // NOT_FOUND means that the rank has just ended, so the rank needs no signal.
  if (status.ok() || absl::IsNotFound(status)) return;
  spdlog::error("{}: cannot send {}: {}", Name(key), signal, Text(status));
}

Timestamp SteadyMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool HasEnded(RankPresence presence) {
  return presence == RankPresence::kExited || presence == RankPresence::kVanished;
}

absl::StatusOr<RankObservation> ObserveNow(const RankPlace& place) {
  RankObservation observation;
  TRAINYARD_ASSIGN_OR_RETURN(observation.state, ReadRankState(place));
  if (observation.state.unattended) SweepRank(place);
  if (HasEnded(observation.state.presence)) observation.log_tail = ReadLogTail(place.records);
  observation.processes = ThreadsInGroup(place.mark);
  return observation;
}

}  // namespace

RankRunner::RankRunner(asio::io_context& loop, std::string shim_program, Handler handler,
                       MakeDirectory make_directory, PrepareCode prepare_code)
    : loop_(loop),
      launcher_(std::move(shim_program)),
      handler_(std::move(handler)),
      self_(std::make_shared<RankRunner*>(this)),
      helpers_(kHelpers),
      directories_(loop, std::move(make_directory)),
      codes_(loop, std::move(prepare_code)) {}

RankRunner::~RankRunner() {
  self_.reset();
  helpers_.join();
}

RankRunner::Lane& RankRunner::LaneOf(const RankKey& key) {
  return lanes_.try_emplace(key, helpers_.get_executor()).first->second;
}

void RankRunner::Forget(const AttemptKey& attempt) {
  std::erase_if(lanes_, [&](const auto& lane) { return lane.first.attempt == attempt; });
  std::erase_if(ended_unwatched_, [&](const RankKey& key) { return key.attempt == attempt; });
  shims_.Forget(attempt);
}

void RankRunner::Launch(const RankKey& key, LaunchFiles files, ProcessLaunch launch) {
  if (files.code_snapshot.empty()) return LaunchWithCode(key, std::move(files), std::move(launch));
  preparing_.insert(key);
  const std::string snapshot = files.code_snapshot;
  auto prepared =
      std::make_shared<std::pair<LaunchFiles, ProcessLaunch>>(std::move(files), std::move(launch));
  codes_.MakeDirectory(snapshot, [this, key, prepared](const absl::Status& status) {
    if (preparing_.erase(key) == 0) return;
    if (!status.ok()) return handler_.on_launch_failed(key, status, FaultOfCode(status));
    LaunchWithCode(key, std::move(prepared->first), std::move(prepared->second));
  });
}

void RankRunner::LaunchWithCode(const RankKey& key, LaunchFiles files, ProcessLaunch launch) {
  if (files.checkpoint_dir.empty()) return LaunchPrepared(key, std::move(files), std::move(launch));
  preparing_.insert(key);
  const std::string checkpoint_dir = files.checkpoint_dir;
  auto prepared =
      std::make_shared<std::pair<LaunchFiles, ProcessLaunch>>(std::move(files), std::move(launch));
  directories_.MakeDirectory(checkpoint_dir, [this, key, prepared](const absl::Status& status) {
    if (preparing_.erase(key) == 0) return;
    if (!status.ok()) return handler_.on_launch_failed(key, status, FaultOfDirectory(status));
    LaunchPrepared(key, std::move(prepared->first), std::move(prepared->second));
  });
}

void RankRunner::CancelLaunch(const RankKey& key) {
  if (preparing_.erase(key) == 0) return;
  handler_.on_launch_failed(
      key,
      absl::CancelledError(
          "the rank was stopped while its code and directories were being prepared"),
      v1::START_FAULT_STORAGE);
}

void RankRunner::LaunchPrepared(const RankKey& key, LaunchFiles files, ProcessLaunch launch) {
  asio::post(LaneOf(key), [this, weak = std::weak_ptr(self_), key, files = std::move(files),
                           launch = std::move(launch)]() mutable {
    const RankPlace place = files.place;
    absl::Status status = WriteAndLaunch(launcher_, files, std::move(launch));
    asio::post(loop_, [this, weak, key, place, status = std::move(status)] {
      if (weak.expired()) return;
      if (!MayRun(status)) {
        handler_.on_launch_failed(key, status, FaultOfLaunch(status));
        return;
      }
      if (!status.ok()) spdlog::warn("{}: {}", Name(key), Text(status));
      handler_.on_launched(key);
      Observe(key, place);
    });
  });
}

void RankRunner::Signal(const RankKey& key, const RankPlace& place, bool kill) {
  if (kill) return Kill(key, place);
  asio::post(LaneOf(key), [key, place] {
    LogSignal(key, "SIGTERM", SignalRank(place, RankSignal::kTerminate));
  });
}

void RankRunner::SendUserSignal(const RankKey& key, const RankPlace& place, bool second) {
  asio::post(LaneOf(key), [key, place, second] {
    LogSignal(key, second ? "SIGUSR2" : "SIGUSR1",
              SignalRank(place, second ? RankSignal::kUser2 : RankSignal::kUser1));
  });
}

void RankRunner::Kill(const RankKey& key, const RankPlace& place) {
  if (!killing_.insert(key).second) return;
  asio::post(LaneOf(key), [this, weak = std::weak_ptr(self_), key, place] {
    const absl::Status status = SignalRank(place, RankSignal::kKill);
    LogSignal(key, "SIGKILL", status);
    const bool waits_in_kernel = WaitsInKernel(place);
    asio::post(loop_, [this, weak, key, delivered = status.ok(), waits_in_kernel] {
      if (weak.expired()) return;
      killing_.erase(key);
      if (delivered || waits_in_kernel) handler_.on_killed(key, waits_in_kernel);
    });
  });
}

void RankRunner::Observe(const RankKey& key, const RankPlace& place) {
  if (!observing_.insert(key).second) return;
  asio::post(LaneOf(key), [this, weak = std::weak_ptr(self_), key, place] {
    absl::StatusOr<RankObservation> observation = ObserveNow(place);
    asio::post(loop_, [this, weak, key, place, observation = std::move(observation)] {
      if (!weak.expired()) Observed(key, place, observation);
    });
  });
}

void RankRunner::Observed(const RankKey& key, const RankPlace& place,
                          const absl::StatusOr<RankObservation>& observation) {
  observing_.erase(key);
  if (!observation.ok()) {
    spdlog::error("{}: {}", Name(key), Text(observation.status()));
    return;
  }
  if (observation->state.presence == RankPresence::kRunning) Watch(key, place);
  if (HasEnded(observation->state.presence)) watches_.erase(key);
  UrgeShim(key, place, observation->state.shim_overdue);
  handler_.on_observed(key, *observation);
}

// Sends SIGCONT or SIGKILL to an overdue shim. A job can stop its shim, because both run as the
// same user. Without the signal the rank would keep its slot forever.
void RankRunner::UrgeShim(const RankKey& key, const RankPlace& place, bool overdue) {
  const ShimWatch::Step step = shims_.Note(key, overdue, SteadyMs());
  if (step == ShimWatch::Step::kNone) return;
  const int signal = step == ShimWatch::Step::kKill ? SIGKILL : SIGCONT;
  asio::post(LaneOf(key), [key, place, signal] {
    const char* name = signal == SIGKILL ? "SIGKILL" : "SIGCONT";
    const absl::Status status = SignalShim(place, signal);
    if (absl::IsNotFound(status)) return;
    spdlog::warn(
        "{}: the process of the rank has ended, but its shim has not reported the exit; sending {} "
        "to the shim: {}",
        Name(key), name, status.ok() ? "done" : Text(status));
  });
}

void RankRunner::Watch(const RankKey& key, const RankPlace& place) {
  if (watches_.contains(key)) return;
  absl::StatusOr<UniqueFd> fd = OpenExitWatch(place.records);
  // The rank has ended since it was observed, so observe it again. Do this only once per rank,
  // because the watch always fails if the records of a running rank are lost.
  if (absl::IsNotFound(fd.status()) && ended_unwatched_.insert(key).second) {
    return Observe(key, place);
  }
  // Without a watch, the regular observation detects the end of the rank a little later.
  if (!fd.ok()) return;
  asio::posix::stream_descriptor& descriptor =
      watches_.emplace(key, asio::posix::stream_descriptor(loop_, fd->Release())).first->second;
  descriptor.async_wait(
      asio::posix::stream_descriptor::wait_read,
      [this, weak = std::weak_ptr(self_), key, place](const boost::system::error_code& error) {
        if (error || weak.expired()) return;
        watches_.erase(key);
        Observe(key, place);
      });
}

}  // namespace trainyard::worker
