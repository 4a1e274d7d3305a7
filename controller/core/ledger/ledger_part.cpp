#include "controller/core/ledger/ledger_part.h"

namespace trainyard::controller {
namespace {

void CopyVerdict(const v1::Verdict& verdict, v1::Verdict& copy) {
  copy.set_cause(verdict.cause());
  copy.set_time_ms(verdict.time_ms());
}

v1::Heal WithoutTexts(const v1::Heal& heal) {
  v1::Heal copy;
  copy.set_began_ms(heal.began_ms());
  copy.set_healed_ms(heal.healed_ms());
  copy.set_lost_steps(heal.lost_steps());
  *copy.mutable_seats() = heal.seats();
  CopyVerdict(heal.verdict(), *copy.mutable_verdict());
  return copy;
}

v1::Attempt WithoutRanks(const v1::Attempt& attempt) {
  v1::Attempt copy;
  copy.set_number(attempt.number());
  copy.set_state(attempt.state());
  copy.set_resume_step(attempt.resume_step());
  copy.set_first_step(attempt.first_step());
  copy.set_last_step(attempt.last_step());
  copy.set_placed_time_ms(attempt.placed_time_ms());
  copy.set_started_time_ms(attempt.started_time_ms());
  copy.set_stopping_time_ms(attempt.stopping_time_ms());
  copy.set_ended_time_ms(attempt.ended_time_ms());
  copy.set_stop_reason(attempt.stop_reason());
  copy.set_standbys(attempt.standbys());
  copy.set_paused_before_ms(attempt.paused_before_ms());
  copy.set_paused_from_ms(attempt.paused_from_ms());
  if (attempt.has_time_use()) *copy.mutable_time_use() = attempt.time_use();
  copy.mutable_layout()->set_nodes(attempt.layout().nodes());
  copy.mutable_layout()->set_slots_per_node(attempt.layout().slots_per_node());
  for (const v1::Heal& heal : attempt.heals()) *copy.add_heals() = WithoutTexts(heal);
  if (attempt.has_verdict()) CopyVerdict(attempt.verdict(), *copy.mutable_verdict());
  return copy;
}

}  // namespace

v1::Job LedgerPart(const v1::Job& job) {
  v1::Job copy;
  copy.set_id(job.id());
  copy.set_name(job.name());
  copy.set_user(job.user());
  copy.set_state(job.state());
  copy.set_submitted_time_ms(job.submitted_time_ms());
  copy.set_ended_time_ms(job.ended_time_ms());
  copy.set_paused_ms(job.paused_ms());
  copy.set_paused_from_ms(job.paused_from_ms());
  copy.set_resumed_starts(job.resumed_starts());
  if (job.has_pause()) copy.mutable_pause()->set_time_ms(job.pause().time_ms());
  *copy.mutable_spec()->mutable_resources() = job.spec().resources();
  // The kind of program (proto/support/job_kind.h) decides which steps count as redone.
  copy.mutable_spec()->set_kind(job.spec().kind());
  if (!job.spec().command().empty()) copy.mutable_spec()->add_command("");
  if (job.has_earlier()) *copy.mutable_earlier() = job.earlier();
  for (const v1::Attempt& attempt : job.attempts()) *copy.add_attempts() = WithoutRanks(attempt);
  return copy;
}

}  // namespace trainyard::controller
