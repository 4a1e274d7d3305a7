#include "worker/attempt_keeper.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/exit_code.h"
#include "proto/contract/limits.h"
#include "proto/json/message_json.h"
#include "proto/support/detached_thread.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "proto/text/utf8.h"
#include "spdlog/spdlog.h"
#include "worker/core/processes.h"
#include "worker/process/secret_files.h"
#include "worker/process/thread_stacks.h"
#include "worker/tail/error_file.h"

namespace trainyard::worker {
namespace {

Timestamp SteadyNow() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string Name(const AttemptKey& key) {
  return absl::StrCat("job ", key.job_id, " attempt ", key.number);
}

std::map<std::string, std::string> WorkerEnvironment() {
  std::map<std::string, std::string> environment;
  for (const std::string& name : PassedThroughVariables()) {
    if (const char* value = std::getenv(name.c_str())) environment[name] = value;
  }
  return environment;
}

RankStreams::Paths PathsOf(const AttemptFolders& folders, const RankKey& key) {
  return {.output = folders.OutputFile(key), .telemetry = folders.TelemetryFile(key)};
}

// Runs `removal` on its own thread, because the removal may take long: a program may have created
// any number of files, and a disk may hang.
void RunInBackground(std::function<absl::Status()> removal) {
  const auto note = [](const absl::Status& status) {
    if (!status.ok()) spdlog::warn("{}; the worker retries at its next start", Text(status));
  };
  note(RunDetached("remove run directories",
                   [removal = std::move(removal), note] { note(removal()); }));
}

RankRunner::PrepareCode PrepareWith(std::shared_ptr<CodeTrees> trees) {
  return [trees = std::move(trees)](const std::string& snapshot) {
    if (trees != nullptr) return trees->Prepare(snapshot);
    return absl::FailedPreconditionError("this worker cannot fetch the code of jobs");
  };
}

void LogFact(const v1::Fact& fact) {
  if (fact.has_rank_started()) {
    const v1::RankStarted& started = fact.rank_started();
    spdlog::info("{} rank {} started, pid {}", Name({started.job_id(), started.attempt()}),
                 started.rank(), started.pid());
  } else if (fact.has_rank_exited()) {
    const v1::RankExited& exited = fact.rank_exited();
    spdlog::info("{} rank {} ended: code {}, signal {}{}",
                 Name({exited.job_id(), exited.attempt()}), exited.rank(), exited.exit_code(),
                 exited.signal(), exited.spawn_error().empty() ? "" : ", " + exited.spawn_error());
  } else {
    const v1::AttemptCleared& cleared = fact.attempt_cleared();
    spdlog::info("{} has no processes left on this node",
                 Name({cleared.job_id(), cleared.attempt()}));
  }
}

}  // namespace

AttemptKeeper::AttemptKeeper(boost::asio::io_context& loop, const DataDir& data_dir,
                             const Clock& clock, Options options, Handler handler,
                             std::unique_ptr<FactLog> facts)
    : data_dir_(data_dir),
      clock_(clock),
      options_(std::move(options)),
      handler_(std::move(handler)),
      folders_(data_dir.path()),
      marks_(data_dir.path(), data_dir.node_id()),
      facts_(std::move(facts)),
      kernel_(*this, *facts_),
      runner_(loop, options_.worker_program,
              {.on_launch_failed =
                   [this](const RankKey& key, const absl::Status& status, v1::StartFault fault) {
                     kernel_.LaunchFailed(key, Text(status), fault, Now());
                   },
               .on_launched = [this](const RankKey& key) { kernel_.Launched(key); },
               .on_observed =
                   [this](const RankKey& key, const RankObservation& observation) {
                     Observed(key, observation);
                   },
               .on_killed =
                   [this](const RankKey& key, bool waits_in_kernel) {
                     kernel_.Killed(key, waits_in_kernel, Now());
                   }},
              MakeGroupDirectories, PrepareWith(options_.code_trees)),
      checkpoints_(
          loop,
          [this](const v1::StartAttempt& command, const RankKey& key) {
            return WatchPlacesOf(command, key);
          },
          [this](const RankKey& key) { Observe(key); }) {}

absl::StatusOr<std::unique_ptr<AttemptKeeper>> AttemptKeeper::Open(boost::asio::io_context& loop,
                                                                   const DataDir& data_dir,
                                                                   const Clock& clock,
                                                                   Options options,
                                                                   Handler handler) {
  TRAINYARD_ASSIGN_OR_RETURN(std::unique_ptr<FactLog> facts,
                             FactLog::Open(data_dir.File("facts.bin")));
  if (facts->dropped_bytes() > 0) {
    spdlog::warn("facts.bin: removed {} bytes of an incomplete record at its end",
                 facts->dropped_bytes());
  }
  if (!facts->damage().empty()) spdlog::warn("{}", facts->damage());
  auto keeper = std::unique_ptr<AttemptKeeper>(new AttemptKeeper(
      loop, data_dir, clock, std::move(options), std::move(handler), std::move(facts)));
  TRAINYARD_RETURN_IF_ERROR(keeper->Load());
  return keeper;
}

absl::Status AttemptKeeper::Load() {
  TRAINYARD_ASSIGN_OR_RETURN(attempt_numbers_,
                             AttemptNumberLog::Open(data_dir_.File("attempt_numbers.bin")));
  if (!attempt_numbers_->damage().empty()) spdlog::warn("{}", attempt_numbers_->damage());
  // Earlier versions named this file epochs.bin.
  TRAINYARD_RETURN_IF_ERROR(attempt_numbers_->TakeOver(data_dir_.File("epochs.bin")));
  TRAINYARD_ASSIGN_OR_RETURN(const AttemptFolders::Found found, folders_.Scan(marks_.Running()));
  for (const std::string& warning : found.warnings) spdlog::warn("{}", warning);
  for (const v1::StartAttempt& command : found.attempts) {
    spdlog::info("found {} on disk, with {} rank(s)", Name({command.job_id(), command.attempt()}),
                 RanksOf(command).size());
  }
  kernel_.Restore(attempt_numbers_->seen(), found.attempts, found.lost);
  RunInBackground([folders = folders_] { return folders.RemoveAllMovedRuns(); });
  return absl::OkStatus();
}

WorkerTime AttemptKeeper::Now() const { return {SteadyNow(), clock_.Now()}; }

absl::Status AttemptKeeper::CreateAttempt(const v1::StartAttempt& command) {
  return folders_.Create(command);
}

absl::Status AttemptKeeper::RememberAttempt(const AttemptKey& attempt) {
  return attempt_numbers_->Remember(attempt.job_id, attempt.number);
}

absl::Status AttemptKeeper::RecordFact(const v1::Fact& fact) {
  TRAINYARD_RETURN_IF_ERROR(facts_->Append(fact));
  LogFact(fact);
  handler_.on_fact_recorded(fact);
  return absl::OkStatus();
}

absl::Status AttemptKeeper::RemoveAttempt(const AttemptKey& attempt) {
  spdlog::info("the controller has stored everything of {}; removing the files of this attempt",
               Name(attempt));
  runner_.Forget(attempt);
  checkpoints_.Forget(attempt);
  TRAINYARD_RETURN_IF_ERROR(folders_.Remove(attempt));
  RunInBackground([folders = folders_, attempt] { return folders.RemoveMovedRuns(attempt); });
  return absl::OkStatus();
}

void AttemptKeeper::AddStreams(const v1::StartAttempt& command) {
  for (const int rank : FirstRanksOf(command)) {
    const RankKey key = {{command.job_id(), command.attempt()}, rank};
    const auto gone = [this, key] { return kernel_.attempts().IsGone(key); };
    const auto [it, added] =
        streams_.try_emplace(key, command, key, PathsOf(folders_, key), gone, clock_);
    if (!added) continue;
    for (auto& source : it->second.MakeSources()) handler_.on_stream_added(std::move(source));
  }
}

void AttemptKeeper::RemoveStreams(const AttemptKey& attempt) {
  std::erase_if(streams_, [&](const auto& entry) { return entry.first.attempt == attempt; });
  handler_.on_attempt_removed(attempt);
}

void AttemptKeeper::Signal(const RankKey& key, bool kill) {
  runner_.Signal(key, PlaceOf(key), kill);
}

void AttemptKeeper::SendUserSignal(const RankKey& key, bool second) {
  runner_.SendUserSignal(key, PlaceOf(key), second);
}

absl::Status AttemptKeeper::WriteOrder(const RankKey& key, const std::string& order) {
  return folders_.WriteOrder(key, order);
}

void AttemptKeeper::Observe(const RankKey& key) { runner_.Observe(key, PlaceOf(key)); }

std::string AttemptKeeper::Stacks(int64_t pid) { return ThreadStacks(static_cast<pid_t>(pid)); }

void AttemptKeeper::Warn(const std::string& text) { spdlog::warn(text); }

RankPlace AttemptKeeper::PlaceOf(const RankKey& key) const {
  return RankPlace(folders_.RankDir(key), MarkOf(key));
}

absl::StatusOr<LaunchSite> AttemptKeeper::SiteOf(const v1::StartAttempt& command,
                                                 const RankKey& key) const {
  LaunchSite site;
  const auto& names = command.spec().secrets();
  TRAINYARD_ASSIGN_OR_RETURN(site.secrets,
                             ReadSecrets(options_.secrets_dir, {names.begin(), names.end()}));
  if (options_.code_trees != nullptr) {
    site.code_dir = options_.code_trees->DirectoryOf(command.spec());
  }
  site.run_dir = folders_.RunDir(key);
  site.spec_path = absl::StrCat(site.run_dir, "/", kSpecFile);
  site.telemetry_path = absl::StrCat(site.run_dir, "/", kTelemetryFile);
  site.heal_path = absl::StrCat(site.run_dir, "/", kHealFile);
  site.error_path = absl::StrCat(site.run_dir, "/", kErrorFile);
  site.trainer_program = options_.trainer_program;
  site.data_program = options_.data_program;
  site.worker_program = options_.worker_program;
  site.environment_dir = absl::StrCat(data_dir_.path(), "/environments");
  site.worker_environment = WorkerEnvironment();
  site.inventory = options_.inventory;
  site.network_interface = options_.network_interface;
  return site;
}

std::set<std::string> AttemptKeeper::CodeInUse() const {
  std::set<std::string> snapshots;
  for (const RankView& view : kernel_.attempts().Ranks()) {
    const v1::StartAttempt* command = kernel_.attempts().CommandOf(view.key.attempt);
    if (command != nullptr) snapshots.insert(command->spec().code().snapshot());
  }
  return snapshots;
}

void AttemptKeeper::Launch(const v1::StartAttempt& command, const RankKey& key) {
  const absl::StatusOr<LaunchSite> site = SiteOf(command, key);
  if (!site.ok()) {
    return kernel_.LaunchFailed(key, Text(site.status()), v1::START_FAULT_JOB, Now());
  }
  if (options_.code_trees != nullptr) options_.code_trees->SetInUse(CodeInUse());
  for (const v1::Process& process : command.processes()) {
    if (process.ranks(0).rank() != key.rank) continue;
    ProcessLaunch launch = MakeProcessLaunch(command, process, *site);
    if (!launch.problem.empty()) {
      return kernel_.LaunchFailed(key, launch.problem, v1::START_FAULT_JOB, Now());
    }
    runner_.Launch(key,
                   {.place = PlaceOf(key),
                    .run_dir = folders_.GuardedRunDir(key),
                    .spec_path = site->spec_path,
                    .spec_json = MessageToJson(command.spec()).dump(2) + "\n",
                    .code_snapshot = command.spec().code().snapshot(),
                    .checkpoint_dir = command.checkpoint_dir(),
                    .before_start = checkpoints_.BeforeStart(command, key),
                    .processes_max = options_.limits.processes},
                   std::move(launch));
  }
}

bool AttemptKeeper::Runs(const RankKey& rank) const {
  const v1::StartAttempt* start = kernel_.attempts().CommandOf(rank.attempt);
  if (start == nullptr) return false;
  return kernel_.attempts().PidOf({rank.attempt, FirstRankBeside(*start, rank.rank)}) != 0;
}

absl::StatusOr<RankCommand> AttemptKeeper::CommandBeside(const RankKey& rank,
                                                         const v1::ExecCommand& command) const {
  if (!Runs(rank)) return absl::FailedPreconditionError("the rank is not running on this node");
  const v1::StartAttempt& start = *kernel_.attempts().CommandOf(rank.attempt);
  const RankKey first = {rank.attempt, FirstRankBeside(start, rank.rank)};
  TRAINYARD_ASSIGN_OR_RETURN(const LaunchSite site, SiteOf(start, first));
  const auto process = std::ranges::find_if(
      start.processes(), [&](const v1::Process& one) { return one.ranks(0).rank() == first.rank; });
  ProcessLaunch launch = MakeExecLaunch(start, *process, site, command);
  if (!launch.problem.empty()) return absl::FailedPreconditionError(launch.problem);
  return RankCommand{.argv = std::move(launch.argv),
                     .environment = std::move(launch.environment),
                     .working_directory = std::move(launch.working_directory),
                     .mark = MarkOf(first),
                     .secrets = std::move(launch.secrets),
                     .processes_max = options_.limits.processes};
}

WatchPlaces AttemptKeeper::WatchPlacesOf(const v1::StartAttempt& command,
                                         const RankKey& key) const {
  LaunchSite site = SiteOf(key);
  if (options_.code_trees != nullptr) {
    site.code_dir = options_.code_trees->DirectoryOf(command.spec());
  }
  WatchPlaces places = {.telemetry = folders_.TelemetryFile(key),
                        .state_path = absl::StrCat(folders_.RankDir(key), "/", kWatchFile),
                        .marks = {},
                        .working_directory = WorkingDirectoryOf(command.spec(), site)};
  for (const int rank : RanksOf(command)) places.marks.insert(MarkOf({key.attempt, rank}));
  return places;
}

int64_t AttemptKeeper::NewestStep(const AttemptKey& attempt) {
  int64_t newest = 0;
  for (auto& [key, streams] : streams_) {
    if (key.attempt == attempt) newest = std::max(newest, streams.ReadStep());
  }
  return newest;
}

bool AttemptKeeper::WatchCheckpoints(const RankKey& key, const RankState& state) {
  const v1::StartAttempt* command = kernel_.attempts().CommandOf(key.attempt);
  const bool is_watched = command != nullptr && CheckpointWatch::Watches(*command, key);
  if (!is_watched) return true;
  const int64_t step = NewestStep(key.attempt);
  if (state.presence == RankPresence::kRunning) checkpoints_.Look(*command, key, step);
  const bool has_ended =
      state.presence == RankPresence::kExited || state.presence == RankPresence::kVanished;
  if (!has_ended || !state.exit.spawn_error.empty()) return true;
  const bool saved =
      state.exit.signal == 0 && (state.exit.exit_code == 0 ||
                                 state.exit.exit_code == static_cast<int>(ExitCode::kTerminated));
  return checkpoints_.IsOver(*command, key, saved, step);
}

void AttemptKeeper::Observed(const RankKey& key, const RankObservation& observation) {
  // The last records must be written before the rank is reported as ended, because its telemetry
  // is then complete.
  if (!WatchCheckpoints(key, observation.state)) return;
  const std::string reason = JudgeProcesses(options_.limits, observation.processes);
  const bool runs = observation.state.presence == RankPresence::kRunning;
  if (runs && !reason.empty()) kernel_.EndForLimit(key, reason);
  kernel_.Observed(key, StatusOf(key, observation), Now());
}

RankStatus AttemptKeeper::StatusOf(const RankKey& key, const RankObservation& observation) const {
  using Presence = RankStatus::Presence;
  const RankState& state = observation.state;
  RankStatus status;
  status.pid = state.rank_pid;
  status.started_ms = state.started_ms;
  status.processes_remain = state.processes_remain;
  switch (state.presence) {
    case RankPresence::kNeverStarted:
      status.presence = Presence::kNeverStarted;
      break;
    case RankPresence::kStarting:
      status.presence = Presence::kStarting;
      break;
    case RankPresence::kRunning:
      status.presence = Presence::kRunning;
      break;
    case RankPresence::kExited:
    case RankPresence::kVanished:
      status.presence = Presence::kEnded;
      status.exited = ExitOf(key, observation);
      break;
  }
  return status;
}

v1::RankExited AttemptKeeper::ExitOf(const RankKey& key, const RankObservation& observation) const {
  const RankExit& exit = observation.state.exit;
  v1::RankExited exited;
  exited.set_job_id(key.attempt.job_id);
  exited.set_attempt(key.attempt.number);
  exited.set_rank(key.rank);
  exited.set_exit_code(exit.exit_code);
  exited.set_signal(exit.signal);
  exited.set_out_of_memory(exit.out_of_memory);
  exited.set_spawn_error(exit.spawn_error);
  if (!exit.spawn_error.empty()) {
    exited.set_start_fault(exit.node_at_fault ? v1::START_FAULT_NODE : v1::START_FAULT_JOB);
  }
  exited.set_time_ms(exit.ended_ms > 0 ? exit.ended_ms : clock_.Now());
  std::string tail = observation.log_tail;
  if (!observation.state.summary.empty()) absl::StrAppend(&tail, "\n", observation.state.summary);
  if (exit.exit_code != 0 || exit.signal != 0) {
    const std::string error = ReadErrorFile(folders_.ErrorFile(key));
    if (!error.empty()) absl::StrAppend(&tail, "\n", error);
    exited.set_log_tail(std::string(LastLines(tail, kMaxLogTailBytes)));
  }
  return exited;
}

void AttemptKeeper::Describe(v1::AttemptReport& report) {
  const AttemptKey key{report.job_id(), report.attempt()};
  const v1::StartAttempt* command = kernel_.attempts().CommandOf(key);
  if (command == nullptr) return;
  for (v1::RankReport& rank : *report.mutable_ranks()) {
    const int first_rank = FirstRankBeside(*command, rank.rank());
    const auto streams = streams_.find({key, first_rank});
    if (streams == streams_.end()) continue;
    streams->second.Report(rank);
    if (!report.cleared() || first_rank != rank.rank()) continue;
    for (v1::StreamEnd& end : streams->second.Ends()) *report.add_stream_ends() = std::move(end);
  }
}

}  // namespace trainyard::worker
