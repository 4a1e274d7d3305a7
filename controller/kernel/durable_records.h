// Telemetry records that become events: checkpoints, alerts, and losses to which the loss guard
// objects. A job has a budget of such events (core/left_out.h), because it alone decides how many
// records it writes, while all jobs share the event log and the loop.
//
// Beyond its budget:
//   - Of the checkpoints of an attempt the newest one is held until the budget allows it, so that
//     the starting point of the next attempt stays right. Older ones are left out.
//   - The first loss to which the guard objects is held: the guard acts on the first one.
//   - Other alerts are left out.
// A deletion needs no budget: only a recorded checkpoint can be deleted, and only once. One alert
// per minute reports how many records were left out.
#ifndef TRAINYARD_CONTROLLER_KERNEL_DURABLE_RECORDS_H_
#define TRAINYARD_CONTROLLER_KERNEL_DURABLE_RECORDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/decide/left_out.h"
#include "controller/core/observations/observations.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/attempt_key.h"
#include "controller/core/support/token_bucket.h"
#include "controller/kernel/known_alerts.h"
#include "controller/kernel/worker_actions.h"
#include "controller/store/stream_key.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// A received batch of telemetry.
struct BatchId {
  LinkId link = 0;
  StreamKey stream;
  uint64_t number = 0;
};

class DurableRecords {
 public:
  // Results of a call.
  struct Changes {
    // Requests to submit, each with the number of its answer.
    std::vector<std::pair<uint64_t, ReceiveTelemetry>> submitted;
    // Batches that wait for one record less. A batch appears once per record.
    std::vector<BatchId> done;
  };

  // Both outlive this. `observations` gets the numbers of left out records.
  DurableRecords(const ClusterState& state, Observations& observations)
      : state_(state), observations_(observations) {}

  // Takes a record. The batch waits for it until it is in Changes::done, now or later.
  void Add(const BatchId& batch, ReceiveTelemetry request, Timestamp now, Changes& changes);
  // The request was decided. Returns its alert, if it had one.
  std::optional<AlertKey> Answered(uint64_t number, Changes& changes);

  // Submits the held records of an attempt. Called before the exit of one of its ranks, because the
  // next attempt starts from its newest checkpoint.
  void SubmitHeld(const AttemptKey& attempt, Changes& changes);
  // Submits the held records that the budget now allows.
  void SubmitWithinBudget(Timestamp now, Changes& changes);
  // Reports about left out records: at most one per job and minute.
  std::vector<ReportLeftOut> ReportsDue(Timestamp now);

 private:
  // Attempt that published it, and step.
  using CheckpointKey = std::pair<int64_t, int64_t>;

  struct Held {
    ReceiveTelemetry request;
    BatchId batch;
  };
  // An unanswered request.
  struct Submitted {
    int64_t job_id = 0;
    int64_t attempt = 0;
    v1::TelemetryRecord record;
    std::optional<AlertKey> alert;
    std::vector<BatchId> waiting;
  };
  struct JobRecords {
    TokenBucket checkpoint_budget{kJobEventsAtOnce, kJobEventsPerMinute};
    TokenBucket alert_budget{kJobEventsAtOnce, kJobEventsPerMinute};
    std::map<int64_t, Held> held_checkpoints;  // By the attempt that published them.
    std::optional<Held> held_loss;
    // Unanswered requests: their count, the newest request about each checkpoint, and the count of
    // requests per directory.
    int submitted = 0;
    std::map<CheckpointKey, uint64_t> newest;
    std::map<std::string, int> paths;
    ReportLeftOut left_out;
    Timestamp left_out_since_ms = 0;
    Timestamp reported_ms = 0;
  };

  void AddCheckpoint(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                     Changes& changes);
  void AddPublished(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                    Changes& changes);
  void AddAlertOrLoss(const BatchId& batch, ReceiveTelemetry request, Timestamp now,
                      Changes& changes);
  static CheckpointKey KeyOf(int64_t attempt, const v1::CheckpointRecord& record);
  Submitted* FindSame(const ReceiveTelemetry& request);
  // True when the record would cause no event.
  bool IsRedundant(const ReceiveTelemetry& request, Timestamp now) const;
  void DropHeld(const ReceiveTelemetry& deletion, Timestamp now, Changes& changes);
  void Submit(ReceiveTelemetry request, const BatchId& batch, Changes& changes);
  void CountLeftOut(const ReceiveTelemetry& request, Timestamp now);

  const ClusterState& state_;
  Observations& observations_;
  // Jobs with held, unanswered or left out records, or whose budget is not full.
  std::map<int64_t, JobRecords> jobs_;
  std::map<uint64_t, Submitted> submitted_;
  uint64_t last_number_ = 0;
  // Numbers of the alerts among them.
  std::map<AlertKey, uint64_t> alert_numbers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_DURABLE_RECORDS_H_
