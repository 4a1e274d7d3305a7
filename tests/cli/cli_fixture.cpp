#include "tests/cli/cli_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fakes/fake_token.h"

namespace trainyard::cli {

const char kJobFile[] = R"(name: tiny
resources: {nodes: 2, device: cpu}
command: [python3, train.py]
)";

CliFixture::CliFixture() {
  environment_.interrupt = &interrupt_;
  environment_.listen_to_signals = false;
  environment_.user = "ada";
  environment_.home = directory_.path();
  environment_.program_directory = directory_.path();
  environment_.server = "127.0.0.1:1";
  environment_.access.token_file = WriteFakeToken(directory_.path());
  environment_.console.clock = &clock_;
}

FakeServer& CliFixture::server() {
  if (server_ == nullptr) {
    server_ = std::make_unique<FakeServer>();
    environment_.server = server_->address();
  }
  return *server_;
}

CliResult CliFixture::Run(const std::vector<std::string>& arguments) {
  std::istringstream in(input_);
  std::ostringstream out;
  std::ostringstream err;
  environment_.console.in = &in;
  environment_.console.out = &out;
  environment_.console.err = &err;
  CliResult result;
  result.exit_code = RunTrainyard(arguments, environment_);
  result.out = out.str();
  result.err = err.str();
  return result;
}

std::string CliFixture::WriteFile(const std::string& name, const std::string& text) {
  const std::string path = directory_.File(name);
  trainyard::WriteFile(path, text);
  return path;
}

v1::Job RunningJob() {
  v1::Job job;
  job.set_id(17);
  job.set_name("tiny");
  job.set_user("ada");
  job.set_state(v1::JOB_STATE_RUNNING);
  job.mutable_spec()->set_name("tiny");
  job.mutable_spec()->mutable_resources()->set_nodes(2);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(1);
  job.mutable_spec()->mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
  job.mutable_spec()->mutable_restart()->set_max_restarts(5);
  v1::Origin& origin = *job.add_origins();
  origin.set_key("resources.nodes");
  origin.set_source("job.yaml:2:13");
  job.set_submitted_time_ms(kNow - 192000);
  job.set_restarts(1);
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_number(2);
  attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
  attempt.set_placed_time_ms(kNow - 100000);
  attempt.set_resume_step(100);
  attempt.set_last_step(120);
  for (int rank = 0; rank < 2; ++rank) {
    v1::RankPlacement& placement = *attempt.add_ranks();
    placement.set_rank(rank);
    placement.set_node_id(rank == 0 ? "id-a" : "id-b");
  }
  v1::Progress& progress = *job.mutable_progress();
  progress.set_step(120);
  progress.set_total_steps(300);
  progress.set_loss(3.20125);
  progress.set_tokens_per_second(5234);
  progress.set_step_seconds(0.4);
  progress.set_eta_seconds(72);
  progress.set_time_ms(kNow - 1000);
  return job;
}

v1::Job JobThatCannotSave() {
  v1::Job job = RunningJob();
  v1::JobHealth& health = *job.mutable_health();
  health.set_word(v1::HEALTH_WORD_UNSAVED);
  health.add_findings()->set_word(v1::HEALTH_WORD_UNSAVED);
  health.set_steps_at_risk(40);
  health.set_saved_step(80);
  health.set_at_risk_since_ms(kNow - 60'000);
  return job;
}

v1::Job EndedJob(v1::JobState state) {
  v1::Job job = RunningJob();
  job.set_state(state);
  job.set_ended_time_ms(kNow);
  v1::Attempt& attempt = *job.mutable_attempts(0);
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  attempt.set_ended_time_ms(kNow);
  if (state == v1::JOB_STATE_FAILED) {
    v1::Verdict& verdict = *attempt.mutable_verdict();
    verdict.set_cause(v1::VERDICT_CAUSE_RANK_EXITED);
    verdict.set_rank(1);
    verdict.set_node_id("id-b");
    verdict.set_exit_code(70);
    verdict.set_summary("rank 1 exited with 70");
    verdict.set_log_tail("first\nTraceback: \033[31mboom\n");
  }
  return job;
}

v1::Job QueuedJob() {
  v1::Job job = RunningJob();
  job.set_id(18);
  job.set_name("waits");
  job.set_state(v1::JOB_STATE_QUEUED);
  job.clear_attempts();
  job.clear_progress();
  job.set_submitted_time_ms(kNow - 5000);
  return job;
}

v1::Node ReadyNode() {
  v1::Node node;
  node.set_id("id-a");
  node.set_name("node-1");
  node.set_state(v1::NODE_STATE_READY);
  node.set_address("10.0.0.1");
  node.set_last_heartbeat_ms(kNow - 2000);
  for (int i = 0; i < 2; ++i) {
    v1::Slot& slot = *node.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_model("cpu");
    node.add_slot_uses()->set_job_id(i == 0 ? 17 : 0);
  }
  return node;
}

v1::Node CordonedNode() {
  v1::Node node = ReadyNode();
  node.set_cordoned(true);
  node.set_cordon_reason("bad fan (user ada)");
  return node;
}

}  // namespace trainyard::cli
