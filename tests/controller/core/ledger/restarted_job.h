// A job with two attempts. The ledger tests divide the job's time among the phases.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_LEDGER_RESTARTED_JOB_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_LEDGER_RESTARTED_JOB_H_

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

// Returns a job on 8 slots, submitted at 1 s. Attempt 1 is placed at 3 s, starts at 4 s, trains 100
// steps, fails at 14 s and ends at 15 s. Attempt 2 resumes from step 80, is placed at 16 s, starts
// at 17 s and is still running.
inline v1::Job RestartedJob() {
  v1::Job job;
  job.set_submitted_time_ms(1000);
  job.mutable_spec()->mutable_resources()->set_nodes(2);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(4);
  v1::Attempt& first = *job.add_attempts();
  first.set_number(1);
  first.set_state(v1::ATTEMPT_STATE_ENDED);
  first.set_placed_time_ms(3000);
  first.set_started_time_ms(4000);
  first.set_last_step(100);
  first.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_RANK_EXITED);
  first.mutable_verdict()->set_time_ms(14'000);
  first.set_ended_time_ms(15'000);
  v1::Attempt& second = *job.add_attempts();
  second.set_number(2);
  second.set_state(v1::ATTEMPT_STATE_RUNNING);
  second.set_resume_step(80);
  second.set_placed_time_ms(16'000);
  second.set_started_time_ms(17'000);
  return job;
}

// Returns the slot seconds of a phase; 0 if the job spent no time in it.
inline double SlotSecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : ledger.phases()) {
    if (time.phase() == phase) return time.slot_seconds();
  }
  return 0;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_LEDGER_RESTARTED_JOB_H_
