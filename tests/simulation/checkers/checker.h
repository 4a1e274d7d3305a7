// A rule that holds at every step of a simulation.
#ifndef TRAINYARD_TESTS_SIMULATION_CHECKERS_CHECKER_H_
#define TRAINYARD_TESTS_SIMULATION_CHECKERS_CHECKER_H_

#include <memory>
#include <string>
#include <vector>

#include "controller/core/schedule/cluster_view.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "tests/simulation/world/simulated_controller.h"
#include "tests/simulation/world/training_world.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::simulation {

// The state of the simulation after a step, as the checkers see it.
struct Step {
  Timestamp now = 0;
  const controller::ClusterState& state;
  // The whole durable log. The events from index first_new on were added in this step.
  const std::vector<v1::Event>& log;
  std::size_t first_new = 0;
  const TrainingWorld& world;
  const SimulatedStore& store;
  // Messages that the controller sent in this step.
  const std::vector<SentMessage>& sent;
  // The durable archive, by job.
  const std::map<int64_t, v1::ArchivedJob>& archive;
  // The time of the controller's last tick, by the controller's clock. All events of the tick have
  // this time.
  Timestamp controller_now = 0;
  // The promises to the heads of queues.
  const controller::Promises& promises;
  // The view of the controller's readers after the step. A controller that was restarted in this
  // step has no schedule yet.
  controller::ClusterView view;
};

class Checker {
 public:
  virtual ~Checker() = default;
  virtual const char* Name() const = 0;
  // Returns a description of the violation; "" if there is none. Called after every step, so that a
  // checker can remember earlier steps.
  virtual std::string Check(const Step& step) = 0;
};

std::unique_ptr<Checker> NoSlotDoubleBooked();
std::unique_ptr<Checker> GangIsAllOrNothing();
std::unique_ptr<Checker> AttemptsOnlyGrow();
std::unique_ptr<Checker> OneLiveAttempt();
std::unique_ptr<Checker> NoRankStartedTwice();
std::unique_ptr<Checker> ReplayEqualsLive();
std::unique_ptr<Checker> ReleasesAreTrue();
std::unique_ptr<Checker> RestartBudgetKept();
std::unique_ptr<Checker> HealthyJobsNotRestarted();
std::unique_ptr<Checker> SmallerRequestsFirst();
std::unique_ptr<Checker> ResumesFromNewestSoundCheckpoint();
std::unique_ptr<Checker> CordonKeepsRanksOff();
std::unique_ptr<Checker> PlacementIsKept();
std::unique_ptr<Checker> DrainsEmptyNodes();
std::unique_ptr<Checker> NodeFaultsCostNothing();
std::unique_ptr<Checker> UnhealthyKeepsRanksOff();
std::unique_ptr<Checker> QuarantineIsJust();
std::unique_ptr<Checker> StreamsStoredOnce();
std::unique_ptr<Checker> FactsBeforeBytes();
std::unique_ptr<Checker> SendsOnlyWhatIsDurable();
std::unique_ptr<Checker> CommandsArePaced();
std::unique_ptr<Checker> ArchiveIsWhole();
std::unique_ptr<Checker> TermsNeverFall();
std::unique_ptr<Checker> RollbacksLeaveTheBranch();
std::unique_ptr<Checker> GuardSparesHealthyJobs();
std::unique_ptr<Checker> SkippedSamplesStaySkipped();
std::unique_ptr<Checker> WatchdogSparesHealthyJobs();
std::unique_ptr<Checker> DeterministicFailuresEnd();
std::unique_ptr<Checker> SparesUsedOnce();
std::unique_ptr<Checker> OneMemberAPlace();
std::unique_ptr<Checker> HealsEnd();
std::unique_ptr<Checker> PausedJobsHoldNothing();
std::unique_ptr<Checker> FirstFailureIsBlamed();
std::unique_ptr<Checker> DependentJobsWait();
std::unique_ptr<Checker> TimeLimitsKept();
std::unique_ptr<Checker> ElementsStartOnce();
// `growth_interval_ms`: CoreOptions::growth_interval_ms.
std::unique_ptr<Checker> ElasticSizesAllowed(int64_t growth_interval_ms);
std::unique_ptr<Checker> PromisesKept();
std::unique_ptr<Checker> HostRequestsFit();
// Checkers for simulations in which jobs of several queues compete for slots.
std::unique_ptr<Checker> QuotasKept();
std::unique_ptr<Checker> LimitsAreLeft();
std::unique_ptr<Checker> QueueIsInOrder();
std::unique_ptr<Checker> PreemptionsAreJust();
std::unique_ptr<Checker> PreemptedWorkIsSaved();
std::unique_ptr<Checker> HeadsAreNotDelayed();
std::unique_ptr<Checker> WaitsHaveCauses();
std::unique_ptr<Checker> ForecastsArePossible();
std::unique_ptr<Checker> ReservationsKept();
// A checker for simulations in which the event log goes back in time.
std::unique_ptr<Checker> LostHistoryIsKept();
std::unique_ptr<Checker> LedgersKeepTrueTime();

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_CHECKERS_CHECKER_H_
