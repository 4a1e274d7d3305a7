// The programs that jobs run, and what differs between them. Other code asks these rules instead of
// comparing `kind` and `command`.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_KIND_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_KIND_H_

#include <algorithm>
#include <array>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// The program that every rank of a job runs.
enum class JobProgram {
  kTrainer,  // trainyard-trainer
  kData,     // trainyard-data run PIPELINE
  kCommand,  // the program in `command`
};

struct ProgramRules {
  JobProgram program = JobProgram::kCommand;
  // Completes a message that begins with "this job".
  const char* text = "";
  // The ranks find each other by torchrun's variables, even if there is only one rank.
  bool needs_torchrun_env = false;
  // The ranks have a layout (tp, pp, dp and so on).
  bool has_layout = true;
  // The ranks may save checkpoints: the job gets a checkpoint directory, and steps after the newest
  // checkpoint are at risk. A program without checkpoints keeps its results itself.
  bool saves = true;
  // A program that is asked to stop loses almost no work.
  bool stops_without_loss = true;
  // The steps of a run are alike. A lower rate than before is then a finding about the run.
  bool has_equal_steps = true;
  // Rank 0 distributes the work, and the run is complete when rank 0 has exited with 0. If another
  // rank is killed, the others do its work.
  bool first_rank_leads = false;
};

inline constexpr std::array kProgramRules{
    ProgramRules{.program = JobProgram::kTrainer,
                 .text = "runs trainyard-trainer",
                 .needs_torchrun_env = true},
    ProgramRules{.program = JobProgram::kData,
                 .text = "prepares data (`kind: data`)",
                 .needs_torchrun_env = true,
                 .has_layout = false,
                 .saves = false,
                 .has_equal_steps = false,
                 .first_rank_leads = true},
    ProgramRules{.program = JobProgram::kCommand,
                 .text = "runs its own `command`",
                 .stops_without_loss = false},
};

// Specs of older releases have no kind. They describe training.
inline JobProgram ProgramOf(const v1::JobSpec& spec) {
  if (spec.kind() == v1::JOB_KIND_DATA) return JobProgram::kData;
  return spec.command().empty() ? JobProgram::kTrainer : JobProgram::kCommand;
}

inline const ProgramRules& ProgramRulesOf(const v1::JobSpec& spec) {
  return *std::ranges::find(kProgramRules, ProgramOf(spec), &ProgramRules::program);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_KIND_H_
