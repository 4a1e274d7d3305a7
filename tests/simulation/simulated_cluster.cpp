#include "tests/simulation/simulated_cluster.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/support/core_options.h"
#include "proto/support/job_state.h"
#include "tests/simulation/world/simulated_preemption.h"

namespace trainyard::simulation {
namespace {

constexpr std::size_t kEventsShown = 200;
constexpr int64_t kLongestPartitionMs = 30000;
constexpr int64_t kLongestFreezeMs = 25000;
// A leader ends after this time without a renewal, at the latest (store/leader/leader_rule.h).
constexpr int64_t kLatestNoticeMs = 3000;
constexpr int64_t kLongestDiskFaultMs = 10000;
constexpr int kMostDataDirsLost = 2;
constexpr int64_t kLongestNodeFaultMs = 60000;
constexpr int64_t kLongestClockStepMs = 24 * 3'600'000;
constexpr int64_t kLongestNodeClockStepMs = 600'000;
constexpr int64_t kLongestSlownessMs = 60'000;

controller::CoreOptions CoreOptionsOfSimulation(const SimulationOptions& simulation) {
  controller::CoreOptions options;
  if (simulation.log_goes_back) options.confirm_log_ms = 5000;
  options.checkpoint_root = "/c";
  // A lease must outlast any sequence of control-plane faults.
  options.lease_ms = 120000;
  // Shorter than a run, so that jobs are archived while faults occur. Only nodes with lost machines
  // are disconnected for longer than archive_away_ms.
  options.archive_after_ms = 10000;
  options.archive_away_ms = 240000;
  options.ended_jobs_kept = 1;
  // Short enough for a run to contain several quarantines.
  options.quarantine_ms = 20000;
  // Short enough for elastic jobs to grow during a run.
  options.growth_interval_ms = 10000;
  options.promised_heads = simulation.promised_heads;
  if (simulation.contested) options.preemption = kSimulatedPreemption;
  options.preemption.per_window = simulation.preemptions;
  return options;
}

// Adds the checkers for clusters in which queues compete for slots.
void AddQueueCheckers(std::vector<std::unique_ptr<Checker>>& checkers) {
  checkers.push_back(QuotasKept());
  checkers.push_back(LimitsAreLeft());
  checkers.push_back(QueueIsInOrder());
  checkers.push_back(PreemptionsAreJust());
  checkers.push_back(PreemptedWorkIsSaved());
  checkers.push_back(HeadsAreNotDelayed());
  checkers.push_back(WaitsHaveCauses());
  checkers.push_back(ReservationsKept());
}

}  // namespace

SimulatedCluster::SimulatedCluster(const SimulationOptions& options)
    : options_(options),
      random_(options.seed),
      faults_(options.faults),
      network_(random_),
      world_(options.world, random_),
      controller_(network_, random_, CoreOptionsOfSimulation(options), now_),
      users_(options_, random_, controller_) {
  network_.SetFaults(faults_.network);
  for (int i = 0; i < options.nodes; ++i) AddWorker(absl::StrCat("n", i));
  if (options.log_goes_back) {
    checkers_.push_back(NoRankStartedTwice());
    checkers_.push_back(LostHistoryIsKept());
    return;
  }
  checkers_.push_back(NoSlotDoubleBooked());
  checkers_.push_back(GangIsAllOrNothing());
  checkers_.push_back(AttemptsOnlyGrow());
  checkers_.push_back(OneLiveAttempt());
  checkers_.push_back(NoRankStartedTwice());
  checkers_.push_back(ReplayEqualsLive());
  checkers_.push_back(ReleasesAreTrue());
  checkers_.push_back(RestartBudgetKept());
  checkers_.push_back(HealthyJobsNotRestarted());
  checkers_.push_back(SmallerRequestsFirst());
  checkers_.push_back(ResumesFromNewestSoundCheckpoint());
  checkers_.push_back(CordonKeepsRanksOff());
  checkers_.push_back(PlacementIsKept());
  checkers_.push_back(DrainsEmptyNodes());
  checkers_.push_back(NodeFaultsCostNothing());
  checkers_.push_back(UnhealthyKeepsRanksOff());
  checkers_.push_back(QuarantineIsJust());
  checkers_.push_back(StreamsStoredOnce());
  checkers_.push_back(FactsBeforeBytes());
  checkers_.push_back(SendsOnlyWhatIsDurable());
  checkers_.push_back(CommandsArePaced());
  checkers_.push_back(ArchiveIsWhole());
  checkers_.push_back(TermsNeverFall());
  checkers_.push_back(RollbacksLeaveTheBranch());
  checkers_.push_back(GuardSparesHealthyJobs());
  checkers_.push_back(LedgersKeepTrueTime());
  checkers_.push_back(SkippedSamplesStaySkipped());
  checkers_.push_back(WatchdogSparesHealthyJobs());
  checkers_.push_back(DeterministicFailuresEnd());
  checkers_.push_back(SparesUsedOnce());
  checkers_.push_back(OneMemberAPlace());
  checkers_.push_back(HealsEnd());
  checkers_.push_back(PausedJobsHoldNothing());
  checkers_.push_back(FirstFailureIsBlamed());
  checkers_.push_back(DependentJobsWait());
  checkers_.push_back(TimeLimitsKept());
  checkers_.push_back(ElementsStartOnce());
  checkers_.push_back(ElasticSizesAllowed(CoreOptionsOfSimulation(options_).growth_interval_ms));
  checkers_.push_back(PromisesKept());
  checkers_.push_back(ForecastsArePossible());
  checkers_.push_back(HostRequestsFit());
  if (options.contested) AddQueueCheckers(checkers_);
}

std::vector<v1::Job> SimulatedCluster::Jobs() const {
  std::vector<v1::Job> jobs;
  for (const auto& [id, entry] : controller_.state().jobs) jobs.push_back(entry.job);
  for (const auto& [id, archived] : controller_.archive()) jobs.push_back(archived.job());
  return jobs;
}

std::set<int64_t> SimulatedCluster::FloodedJobs() const {
  std::set<int64_t> jobs;
  for (const AttemptKey& attempt : world_.flooded()) jobs.insert(attempt.job_id);
  return jobs;
}

bool SimulatedCluster::Strikes(double chance) {
  const bool strikes = random_.EachSecond(chance, kStepMs);
  faults_injected_ += strikes;
  return strikes;
}

void SimulatedCluster::RunFor(int64_t ms) {
  const Timestamp end = now_ + ms;
  while (now_ < end && failure_.empty()) StepOnce();
}

void SimulatedCluster::RunUntilAllEnded(int64_t ms_max) {
  const Timestamp end = now_ + ms_max;
  const auto all_ended = [&] {
    return users_.HaveSubmittedAll() &&
           std::ranges::all_of(controller_.state().jobs,
                               [](const auto& job) { return HasEnded(job.second.job.state()); });
  };
  while (failure_.empty() && !all_ended()) {
    if (now_ >= end) return Complain("every job ends once faults stop: one did not");
    StepOnce();
  }
  RunFor(60000);
  if (failure_.empty()) CheckRest();
}

void SimulatedCluster::CheckRest() {
  for (const auto& [id, entry] : controller_.state().nodes) {
    if (entry.node.state() == v1::NODE_STATE_LOST) continue;
    if (!world_.RunningOn(id).empty()) return Complain(id + " still runs ranks of ended jobs");
    for (const auto& [key, process] : world_.processes()) {
      if (process.node_id == id && HoldsSlot(process)) {
        return Complain(id + " still runs children of ended ranks");
      }
    }
    const bool holds = std::ranges::any_of(
        entry.node.slot_uses(), [](const v1::SlotUse& use) { return use.job_id() != 0; });
    if (holds) return Complain("slots of " + id + " are still held by ended jobs");
  }
  for (const auto& worker : workers_) {
    if (worker->IsDestroyed()) continue;
    if (std::string rest = RestOf(*worker); !rest.empty()) {
      return Complain(absl::StrCat(worker->node_id(), ": ", rest));
    }
  }
}

std::string SimulatedCluster::RestOf(const SimulatedWorker& worker) const {
  if (worker.UnacknowledgedFacts() > 0) return "facts have not reached the controller";
  if (worker.AttemptsOnDisk() > 0) return "an ended attempt was not forgotten";
  std::set<int64_t> deleted;
  for (const v1::Event& event : log()) {
    if (event.has_job_deleted()) deleted.insert(event.job_deleted().job_id());
  }
  for (const auto& [key, process] : world_.processes()) {
    if (process.node_id != worker.node_id()) continue;
    const auto [job, attempt] = process.attempt;
    if (deleted.contains(job)) continue;
    const SimulatedStore& store = controller_.store();
    const bool stored =
        store.OffsetOf({job, attempt, process.rank, v1::STREAM_KIND_TELEMETRY}) ==
            static_cast<int64_t>(process.telemetry.size()) &&
        store.OffsetOf({job, attempt, process.rank, v1::STREAM_KIND_LOG}) == process.output_bytes;
    if (!stored) return absl::StrCat("a stream of job ", job, " was not stored to its end");
  }
  return "";
}

void SimulatedCluster::PutCopyBack(bool all) {
  controller_.PutCopyBack(all, now_);
  checked_events_ = std::min(checked_events_, controller_.log().size());
}

void SimulatedCluster::StepOnce() {
  now_ += kStepMs;
  Mend();
  InjectFaults();
  users_.Act();
  DeliverMessages();
  world_.Advance(now_);
  for (auto& worker : workers_) {
    if (!thaws_at_ms_.contains(worker->node_id())) worker->Step(now_);
  }
  const CrashPoint crash = NextCrash();
  // A killed controller is no longer frozen.
  if (crash != CrashPoint::kNone) controller_thaws_at_ms_ = 0;
  if (controller_thaws_at_ms_ <= now_) controller_.Tick(crash, now_);
  RunCheckers();
}

CrashPoint SimulatedCluster::NextCrash() {
  if (std::exchange(restarts_controller_, false)) return CrashPoint::kBetweenTicks;
  if (!Strikes(faults_.controller_crash)) return CrashPoint::kNone;
  return static_cast<CrashPoint>(random_.Between(1, 3));
}

void SimulatedCluster::InjectFaults() {
  const auto chosen = random_.Between(0, static_cast<int64_t>(workers_.size()) - 1);
  SimulatedWorker& worker = *workers_[chosen];
  const std::string& node_id = worker.node_id();
  if (worker.IsDestroyed()) return;
  if (!starts_at_ms_.contains(node_id) && Strikes(faults_.worker_crash)) {
    if (random_.Chance(0.5)) {
      worker.Crash(now_);
    } else {
      worker.CrashBetweenActions();
    }
    starts_at_ms_[node_id] = now_ + random_.Between(100, 20000);
  }
  if (!heals_at_ms_.contains(node_id) && Strikes(faults_.partition)) {
    const std::set<End> kWays[] = {
        {End::kWorker}, {End::kController}, {End::kWorker, End::kController}};
    network_.Partition(node_id, kWays[random_.Between(0, 2)]);
    heals_at_ms_[node_id] = now_ + random_.Between(100, kLongestPartitionMs);
  }
  if (faults_.failover > 0 && Strikes(faults_.failover)) {
    controller_.FailOver(now_ + random_.Between(0, kLatestNoticeMs), now_);
  }
  InjectFreeze(node_id);
  InjectDiskFault(worker);
  InjectStartFault(worker);
  if (faults_.program_error > 0) InjectDeviceErrors(worker);
  if (Strikes(faults_.clock_step)) {
    controller_.StepClock(random_.Between(-kLongestClockStepMs, kLongestClockStepMs));
    restarts_controller_ = random_.Chance(0.5);
  }
  if (Strikes(faults_.controller_reboot)) {
    controller_.Reboot();
    restarts_controller_ = true;
  }
  if (Strikes(faults_.node_clock_step)) {
    worker.StepClock(random_.Between(-kLongestNodeClockStepMs, kLongestNodeClockStepMs));
  }
  if (Strikes(faults_.foreign_stream)) worker.SendForeign(now_);
  InjectSlowDevice(node_id);
  InjectNodeFault(worker);
  if (!worker.IsDestroyed()) InjectLoss(worker);
}

void SimulatedCluster::InjectLoss(SimulatedWorker& worker) {
  const std::string& node_id = worker.node_id();
  const auto running = world_.RunningOn(node_id);
  if (!running.empty() && Strikes(faults_.shim_crash)) {
    world_.KillShim(running[random_.Between(0, static_cast<int64_t>(running.size()) - 1)]);
  }
  if (!starts_at_ms_.contains(node_id) && Strikes(faults_.record_loss)) {
    worker.Crash(now_);
    if (random_.Chance(0.5)) worker.DamageFiles();
    worker.LoseARecord();
    world_.BlameNode(node_id);
    starts_at_ms_[node_id] = now_ + random_.Between(100, 20000);
  }
  if (data_dirs_lost_ < kMostDataDirsLost && Strikes(faults_.data_dir_loss)) {
    ++data_dirs_lost_;
    world_.BlameNode(node_id);
    worker.Destroy(now_);
    network_.Partition(node_id);
    AddWorker(absl::StrCat(node_id, "-again"));
  }
}

// The number in the name of a node determines its hardware and labels, so that a node that returns
// under a new name has those of the old one.
void SimulatedCluster::AddWorker(const std::string& node_id) {
  workers_.push_back(std::make_unique<SimulatedWorker>(node_id, options_.slots_per_node, world_,
                                                       network_, random_));
  if (options_.placements) {
    const int number = node_id[1] - '0';
    v1::Slot slot;
    slot.set_kind(v1::DEVICE_KIND_GPU);
    slot.set_model(number % 2 == 0 ? "NVIDIA H200" : "NVIDIA A100-SXM4-40GB");
    workers_.back()->SetHardware(slot, {{"pool", number % 2 == 0 ? "a" : "b"},
                                        {"half", number < options_.nodes / 2 ? "1" : "2"}});
  }
  workers_.back()->Start(now_);
}

void SimulatedCluster::InjectDiskFault(SimulatedWorker& worker) {
  const Timestamp until = now_ + random_.Between(100, kLongestDiskFaultMs);
  if (Strikes(faults_.controller_disk_full)) controller_.FillDiskUntil(until);
  if (Strikes(faults_.worker_disk_full)) worker.FillDiskUntil(until);
  if (Strikes(faults_.store_stall)) controller_.StallStoreUntil(until);
}

void SimulatedCluster::InjectDeviceErrors(SimulatedWorker& worker) {
  if (Strikes(faults_.program_error)) worker.LogDeviceError(/*xid=*/31, now_);
  if (!Strikes(faults_.device_error)) return;
  constexpr int kXids[] = {94, 74, 79};
  SimulatedWorker& lemon = *workers_.front();
  world_.BlameNode(lemon.node_id());
  lemon.LogDeviceError(kXids[random_.Between(0, 2)], now_);
}

void SimulatedCluster::InjectStartFault(SimulatedWorker& worker) {
  const std::string& node_id = worker.node_id();
  if (Strikes(faults_.start_fault)) {
    worker.FailStartsUntil(now_ + random_.Between(1000, kLongestNodeFaultMs));
  }
  if (Strikes(faults_.node_trouble)) {
    worker.ReportTroubleUntil(now_ + random_.Between(1000, kLongestNodeFaultMs));
  }
  if (Strikes(faults_.flood)) worker.EndForLimit(now_);
  if (!starts_at_ms_.contains(node_id) && Strikes(faults_.worker_leave)) {
    worker.Leave(now_);
    starts_at_ms_[node_id] = now_ + random_.Between(2000, 20000);
  }
}

void SimulatedCluster::InjectSlowDevice(const std::string& node_id) {
  const auto running = world_.RunningOn(node_id);
  if (running.empty() || !Strikes(faults_.slow_device)) return;
  const auto& slow = running[random_.Between(0, static_cast<int64_t>(running.size()) - 1)];
  const auto factor = static_cast<int>(random_.Between(2, 8));
  world_.SlowRank(slow, factor, now_ + random_.Between(1000, kLongestSlownessMs));
}

void SimulatedCluster::InjectFreeze(const std::string& node_id) {
  if (controller_thaws_at_ms_ <= now_ && Strikes(faults_.controller_freeze)) {
    controller_thaws_at_ms_ = now_ + random_.Between(1000, kLongestFreezeMs);
  }
  if (!thaws_at_ms_.contains(node_id) && Strikes(faults_.worker_freeze)) {
    thaws_at_ms_[node_id] = now_ + random_.Between(1000, kLongestFreezeMs);
  }
}

void SimulatedCluster::InjectNodeFault(SimulatedWorker& worker) {
  const std::string& node_id = worker.node_id();
  if (!heals_at_ms_.contains(node_id) && Strikes(faults_.isolation)) {
    network_.Partition(node_id);
    world_.IsolateNode(node_id);
    world_.BlameNode(node_id);
    heals_at_ms_[node_id] = now_ + random_.Between(100, kLongestPartitionMs);
  }
  const auto running = world_.RunningOn(node_id);
  if (!running.empty() && Strikes(faults_.rank_crash)) {
    const auto& victim = running[random_.Between(0, static_cast<int64_t>(running.size()) - 1)];
    const bool by_signal = random_.Chance(0.5);
    constexpr int kExitCodes[] = {1, 70, 75, 78};
    const int exit_code = by_signal ? 0 : kExitCodes[random_.Between(0, 3)];
    world_.CrashRank(victim, exit_code, by_signal ? 11 : 0, now_);
  }
  if (!running.empty() && random_.EachSecond(faults_.rank_hang, kStepMs)) {
    const auto& victim = running[random_.Between(0, static_cast<int64_t>(running.size()) - 1)];
    const bool leaves = random_.Chance(0.3);
    faults_injected_ += leaves ? world_.LeaveGang(victim, now_) : world_.HangRank(victim);
  }
  if (Strikes(faults_.checkpoint_damage)) world_.DamageCheckpoint();
  if (nodes_lost_ < options_.spare_nodes && Strikes(faults_.node_crash)) {
    ++nodes_lost_;
    world_.BlameNode(node_id);
    worker.Destroy(now_);
    network_.Partition(node_id);
  }
}

void SimulatedCluster::Mend() {
  for (auto& worker : workers_) {
    const std::string& node_id = worker->node_id();
    if (worker->IsDestroyed()) continue;
    const auto heals = heals_at_ms_.find(node_id);
    if (heals != heals_at_ms_.end() && heals->second <= now_) {
      network_.Heal(node_id);
      world_.ReconnectNode(node_id);
      heals_at_ms_.erase(heals);
    }
    const auto thaws = thaws_at_ms_.find(node_id);
    if (thaws != thaws_at_ms_.end() && thaws->second <= now_) {
      thaws_at_ms_.erase(thaws);
    }
    const auto starts = starts_at_ms_.find(node_id);
    if (starts != starts_at_ms_.end() && starts->second <= now_) {
      worker->Crash(now_);
      worker->Start(now_);
      starts_at_ms_.erase(starts);
      thaws_at_ms_.erase(node_id);
    }
  }
}

void SimulatedCluster::StopFaults() {
  faults_ = Faults{};
  network_.SetFaults(faults_.network);
  for (const auto& worker : workers_) worker->MendDevices();
  users_.FaultsHaveStopped();
}

void SimulatedCluster::DeliverMessages() {
  const auto nobody = [](const std::string&) { return false; };
  for (Arrival& arrival : network_.Deliver(End::kController, nobody, now_)) {
    controller_.Receive(std::move(arrival));
  }
  const auto is_frozen = [&](const std::string& id) { return thaws_at_ms_.contains(id); };
  for (Arrival& arrival : network_.Deliver(End::kWorker, is_frozen, now_)) {
    for (auto& worker : workers_) {
      if (worker->node_id() == arrival.node_id) worker->Receive(arrival, now_);
    }
  }
}

void SimulatedCluster::RunCheckers() {
  const std::vector<SentMessage> sent = controller_.TakeSent();
  const Step step{now_,
                  controller_.state(),
                  controller_.log(),
                  checked_events_,
                  world_,
                  controller_.store(),
                  sent,
                  controller_.archive(),
                  controller_.Time(),
                  controller_.promises(),
                  controller_.View()};
  for (auto& checker : checkers_) {
    const std::string wrong = checker->Check(step);
    if (!wrong.empty()) return Complain(absl::StrCat(checker->Name(), ": ", wrong));
  }
  for (const auto& worker : workers_) {
    if (worker->HasObeyedLowerTerm()) return Complain(worker->node_id() + " obeyed a lower term");
  }
  checked_events_ = controller_.log().size();
}

void SimulatedCluster::Complain(const std::string& words) {
  failure_ = absl::StrCat("seed ", options_.seed, " at ", now_, ": ", words, "\n");
  const std::vector<v1::Event>& log = controller_.log();
  for (std::size_t i = log.size() - std::min(log.size(), kEventsShown); i < log.size(); ++i) {
    v1::Event event = log[i];
    if (event.has_job_submitted()) event.mutable_job_submitted()->clear_spec();
    if (event.has_job_submitted()) event.mutable_job_submitted()->clear_origin_list();
    absl::StrAppend(&failure_, i, " ", event.ShortDebugString(), "\n");
  }
  absl::StrAppend(&failure_, "What really ran:\n");
  for (const auto& [key, process] : world_.processes()) {
    absl::StrAppend(&failure_, process.node_id, " job ", process.attempt.job_id, " attempt ",
                    process.attempt.number, " rank ", process.rank, " phase ", process.phase, " ",
                    process.exited.has_value() ? process.exited->ShortDebugString() : "running",
                    "\n");
  }
}

}  // namespace trainyard::simulation
