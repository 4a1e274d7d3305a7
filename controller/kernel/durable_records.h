// Telemetry records that become events: checkpoints, alerts, software reports, and losses that
// violate the rules of the loss guard. Each job has a budget of such events
// (core/decide/left_out.h), because the job decides how many records it writes, but all jobs share
// the event log and the loop thread.
//
// If a job's budget is used up:
//   - The newest checkpoint of each attempt is held until the budget allows it, so that the next
//     attempt starts from the right checkpoint. Older checkpoints are left out.
//   - The first loss that violates the rules is held, because the guard acts on the first one.
//   - Other alerts and software reports are left out.
// A deletion needs no budget, because each recorded checkpoint can be deleted only once. At most
// one alert per minute reports the number of records that were left out.
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
#include "controller/core/support/stream_key.h"
#include "controller/core/support/token_bucket.h"
#include "controller/kernel/known_alerts.h"
#include "controller/kernel/worker_actions.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Identifies a batch of telemetry.
struct BatchId {
  LinkId link = 0;
  StreamKey stream;
  uint64_t number = 0;
};

class DurableRecords {
 public:
  // The results of a call to DurableRecords.
  struct Changes {
    // Requests to submit. Each request has a number, which must be passed to Answered.
    std::vector<std::pair<uint64_t, ReceiveTelemetry>> submitted;
    // Batches with a completed record. A batch appears once for each completed record.
    std::vector<BatchId> done;
  };

  // Both arguments must outlive this object. Writes the numbers of left-out records to
  // `observations`.
  DurableRecords(const ClusterState& state, Observations& observations)
      : state_(state), observations_(observations) {}

  // Adds a record. The caller may store the batch only after this call or a later call has returned
  // the batch in Changes::done for this record.
  void Add(const BatchId& batch, ReceiveTelemetry request, Timestamp now, Changes& changes);
  // Call when the request has been decided. Returns the request's alert, if it has one.
  std::optional<AlertKey> Answered(uint64_t number, Changes& changes);

  // Submits the held records of an attempt. Call before a rank's exit is handled, because the next
  // attempt starts from the newest checkpoint of this attempt.
  void SubmitHeld(const AttemptKey& attempt, Changes& changes);
  // Submits the held records that the budget now allows.
  void SubmitWithinBudget(Timestamp now, Changes& changes);
  // Returns the due reports on left-out records, at most one per job and minute.
  std::vector<ReportLeftOut> ReportsDue(Timestamp now);

 private:
  // The attempt that published the checkpoint, and the step.
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
    std::map<int64_t, Held> held_checkpoints;  // By publishing attempt.
    std::optional<Held> held_loss;
    // Unanswered requests: their number, the newest one per checkpoint, and the number per
    // checkpoint directory.
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
  // Returns true if the record would cause no event.
  bool IsRedundant(const ReceiveTelemetry& request, Timestamp now) const;
  void DropHeld(const ReceiveTelemetry& deletion, Timestamp now, Changes& changes);
  void Submit(ReceiveTelemetry request, const BatchId& batch, Changes& changes);
  void CountLeftOut(const ReceiveTelemetry& request, Timestamp now);

  const ClusterState& state_;
  Observations& observations_;
  // Jobs with held, unanswered or left-out records, and jobs whose budget is partly used.
  std::map<int64_t, JobRecords> jobs_;
  std::map<uint64_t, Submitted> submitted_;
  uint64_t last_number_ = 0;
  // The request number of each unanswered alert.
  std::map<AlertKey, uint64_t> alert_numbers_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_KERNEL_DURABLE_RECORDS_H_
