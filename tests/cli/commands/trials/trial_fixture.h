// Runs trials against a fake controller. Tests define how the jobs end.
#ifndef TRAINYARD_TESTS_CLI_COMMANDS_TRIALS_TRIAL_FIXTURE_H_
#define TRAINYARD_TESTS_CLI_COMMANDS_TRIALS_TRIAL_FIXTURE_H_

#include <cmath>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {

class TrialFixture : public CliFixture {
 protected:
  TrialFixture() {
    environment_.recipe_directories = {RECIPES_DIRECTORY};
    *answers().submit.mutable_job() = JobIn(v1::JOB_STATE_QUEUED);
    *answers().stop.mutable_job() = JobIn(v1::JOB_STATE_STOPPING);
    answers().plan.add_ranks()->set_node_id("a");
    Ends(v1::JOB_STATE_SUCCEEDED);
  }

  static v1::Job JobIn(v1::JobState state) {
    v1::Job job;
    job.set_id(21);
    job.set_name("llama-tiny-cpu-smoke");
    job.set_state(state);
    // A smoke test has ten steps. The model has the sizes of llama-tiny-cpu.
    job.mutable_spec()->mutable_train()->set_steps(10);
    job.mutable_spec()->mutable_model()->set_vocab_size(2048);
    job.mutable_spec()->mutable_model()->set_hidden_size(192);
    return job;
  }

  // Makes every watched job end in this state after ten steps.
  void Ends(v1::JobState state) {
    v1::Job job = JobIn(state);
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(1);
    attempt.set_last_step(10);
    *answers().job.mutable_job() = job;
    answers().watches.assign(40, {{job}, {}, false, {}});
  }

  void AddCheckpoint(const std::string& path) {
    v1::Checkpoint& checkpoint = *answers().job.mutable_job()->add_checkpoints();
    checkpoint.set_step(10);
    checkpoint.set_path(path);
  }

  void AddSeries(const std::string& key, const std::vector<double>& values) {
    v1::Series& series = *answers().series.add_series();
    series.set_key(key);
    for (size_t i = 0; i < values.size(); ++i) {
      series.add_steps(static_cast<int64_t>(i) + 1);
      series.add_last(values[i]);
    }
  }

  // Makes jobs report the falling losses of a model with a vocabulary of 2,048 tokens.
  void Learns() {
    std::vector<double> losses;
    for (int i = 0; i < 10; ++i) losses.push_back(std::log(2048.0) - 0.05 * i);
    AddSeries("loss", losses);
    AddSeries("tokens_per_second", std::vector<double>(10, 5000));
    AddSeries("step_seconds", std::vector<double>(10, 0.4));
  }
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_COMMANDS_TRIALS_TRIAL_FIXTURE_H_
