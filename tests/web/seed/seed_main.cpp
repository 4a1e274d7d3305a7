// Writes a data directory as a controller has it after weeks of operation. The data contains every
// kind of job that a page must show, and many jobs of each common kind. A seed and an end time
// always give the same history, byte for byte.
//   web_seed --data-dir DIR --fleet-file FILE [--jobs N] [--points N] [--log-bytes N]
// web_fleet reads the fleet file and continues the running jobs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/cluster_id.h"
#include "controller/store/stores.h"
#include "proto/jobspec/loader.h"
#include "proto/support/clock.h"
#include "tests/web/seed/history.h"

namespace trainyard::seed {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;

struct Options {
  std::string data_dir;
  std::string fleet_file;
  int64_t end_ms = 0;
  // Sizes of the generated parts, not counting a few jobs with individual histories.
  int jobs = 10'000;
  int sweep = 50;
  int64_t points = 1'000'000;
  int64_t log_bytes = 4 << 20;
  int big_nodes = 128;
};

// The jobs do not run Trainyard's trainer, because pages must also show layouts that this trainer
// does not support.
constexpr const char* kRecipe = R"(
name: llama3-8b
command: [python3, -m, pretrain]
resources: {nodes: 2, slots_per_node: 8, device: gpu}
layout: {tp: 2, zero: 1}
model:
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 14336
  num_attention_heads: 32
  num_query_groups: 8
  vocab_size: 128256
  rotary_base: 500000
data: {path: /data/c4-llama3}
train: {seq_length: 8192, global_batch: 32, steps: 12000}
schedule: {kind: cosine, warmup_steps: 240}
evaluation: {every_steps: 250}
checkpoint: {every_steps: 500, keep_last: 3}
restart: {max_restarts: 5, backoff: 20s, backoff_max: 5m}
)";

struct Written {
  v1::JobSpec spec;
  std::vector<v1::Origin> origins;
};

// Resolves a job file that extends the recipe. `overrides` are settings in command-line form.
Written Resolve(const std::string& name, const std::vector<std::string>& overrides) {
  const JobFileReader reader = [&](const std::string& reference,
                                   const std::string&) -> absl::StatusOr<JobFileText> {
    if (reference == "llama3-8b") return JobFileText{"recipe llama3-8b", kRecipe};
    return JobFileText{"run.yaml", absl::StrCat("name: ", name, "\nextends: [llama3-8b]\n")};
  };
  const auto resolved = ResolveJobFile("run.yaml", overrides, reader);
  if (!resolved.ok()) {
    std::fprintf(stderr, "seed: %s\n", resolved.status().ToString().c_str());
    std::abort();
  }
  Written written{resolved->spec, {}};
  for (const auto& [key, source] : resolved->origins) {
    v1::Origin& origin = written.origins.emplace_back();
    origin.set_key(key);
    origin.set_source(source);
  }
  return written;
}

int64_t Submit(History& history, const std::string& name, const std::vector<std::string>& overrides,
               const std::string& user = "ada") {
  const Written written = Resolve(name, overrides);
  return history.Submit(written.spec, written.origins, user);
}

const std::vector<std::string> kOneSlot = {"resources.nodes=1",     "resources.slots_per_node=1",
                                           "layout.tp=1",           "train.global_batch=4",
                                           "train.seq_length=2048", "schedule.warmup_steps=20"};

std::vector<std::string> OneSlot(std::vector<std::string> more) {
  more.insert(more.begin(), kOneSlot.begin(), kOneSlot.end());
  return more;
}

// Adds jobs. Most jobs succeed within minutes. One in nine fails, and one in eleven is stopped.
void AddManyJobs(History& history, int count) {
  const char* const kinds[] = {"eval-mmlu", "tokenize-shard", "sweep-wd", "ablation-qk-norm",
                               "probe-lr"};
  const char* const users[] = {"ada", "grace", "barbara", "katherine", "mary"};
  Written written = Resolve("many", OneSlot({"train.steps=200", "restart.max_restarts=0"}));
  for (int index = 0; index < count; ++index) {
    const int kind = index * 7 % 5;
    written.spec.set_name(absl::StrFormat("%s-%05d", kinds[kind], index + 1));
    written.spec.mutable_optimizer()->set_lr(1e-4 * (1 + index % 9));
    const int64_t job = history.Submit(written.spec, written.origins, users[index * 11 % 5]);
    history.Start(job);
    history.Advance(40'000 + index % 17 * 1000);
    if (index % 9 == 4) {
      history.Fail(job, 0, 1, 0, "RuntimeError: CUDA error: an illegal memory access\n");
    } else if (index % 11 == 3) {
      history.Stop(job, users[index * 11 % 5]);
    } else {
      history.Finish(job);
    }
  }
}

void AddMillionPoints(History& history, const Options& options) {
  const int64_t job = Submit(history, "tiny-million",
                             OneSlot({absl::StrCat("train.steps=", options.points),
                                      "train.global_batch=1", "checkpoint.every_steps=200000"}));
  history.Start(job);
  history.TrainFast(job, options.points, {"loss", "grad_norm", "tokens"}, 100);
  if (options.log_bytes > 0) history.WriteOutput(job, 0, options.log_bytes);
  history.Finish(job);
}

// Adds one run after another, one per combination of learning rate and batch size.
void AddSweep(History& history, int runs) {
  for (int index = 0; index < runs; ++index) {
    const double lr = 1e-4 * (1 << index % 5);
    const int64_t job =
        Submit(history, absl::StrFormat("sweep-lr%.0e-%02d", lr, index + 1),
               OneSlot({"train.steps=1200", absl::StrCat("optimizer.lr=", lr),
                        absl::StrCat("optimizer.weight_decay=", 0.05 * (1 + index / 5 % 3)),
                        "checkpoint.every_steps=400"}),
               "grace");
    history.Start(job);
    for (const int64_t step : {400, 800, 1200}) {
      history.Train(job, step);
      history.Publish(job, step);
    }
    history.Finish(job);
  }
}

void AddFinished(History& history) {
  const int64_t job = Submit(history, "llama3-1b-base",
                             {"resources.nodes=1", "train.steps=3000", "train.global_batch=16"});
  history.Start(job);
  for (int64_t step = 500; step <= 3000; step += 500) {
    history.Train(job, step);
    history.Publish(job, step);
  }
  history.Finish(job);
}

void AddFailed(History& history) {
  const int64_t job = Submit(history, "tokenizer-check", OneSlot({"train.steps=2000"}), "grace");
  history.Start(job);
  history.Train(job, 37);
  history.Fail(job, 0, 65, 0,
               "step 37/2000 loss 6.2143 grad_norm 0.320 tokens/s 8000\n"
               "error: token id 128263 is outside the vocabulary of 128256\n"
               "error: data.path /data/c4-llama3 was prepared with another tokenizer\n");
}

// Adds a job whose first two attempts failed and whose third attempt is training.
int64_t AddRestarted(History& history) {
  const int64_t job = Submit(history, "llama3-8b-c4", {"optimizer.lr=2.5e-4"});
  history.Start(job);
  for (int64_t step = 500; step <= 2000; step += 500) {
    history.Train(job, step);
    history.Publish(job, step);
  }
  history.Train(job, 2210);
  constexpr int kKilled = 9;
  history.Fail(job, 11, 0, kKilled, "step 2209/12000 loss 2.4310\nstep 2210/12000 loss 2.4275\n");
  history.Start(job);
  history.Train(job, 2500);
  history.Publish(job, 2500);
  history.Train(job, 2890, [](int64_t step, Values& values) {
    if (step == 2890) values[0].second += 1.7, values[1].second += 6;
  });
  history.Alert(job, 2890, "loss_spike", "loss 4.1 is 7.2 sigma above the mean of 200 steps");
  history.Train(job, 2960, [](int64_t step, Values& values) {
    values[0].second += 0.02 * static_cast<double>(step - 2890);
    if (step > 2955) values[0].second = std::numeric_limits<double>::quiet_NaN();
  });
  history.Alert(job, 2956, "nan_loss", "loss is not a number since step 2956");
  history.Fail(job, 0, 1, 0, "step 2955/12000 loss 3.7012\nerror: loss is not a number\n");
  history.Start(job);
  return job;
}

// Adds a cordoned node, a lost node, and a job in a long backoff because one of its ranks keeps
// failing.
void AddTrouble(History& history) {
  const int64_t crashing = Submit(
      history, "vision-adapter",
      OneSlot({"train.steps=4000", "restart.backoff=8h", "restart.backoff_max=9h"}), "barbara");
  history.Start(crashing);
  history.Train(crashing, 120);
  history.Fail(crashing, 0, 1, 0, "OSError: [Errno 5] Input/output error: '/data/laion/0412'\n");
  history.Cordon("node-133", "ECC errors, ticket 311", "grace");
  history.LoseNode("node-134");
}

// Adds jobs that are running, queued or failing when the history ends.
void AddPresent(History& history, const Options& options) {
  const int64_t restarted = AddRestarted(history);
  const int64_t big = Submit(history, "dense-405b",
                             {absl::StrCat("resources.nodes=", options.big_nodes), "layout.tp=8",
                              "layout.pp=8", "train.global_batch=2048", "train.steps=120000"});
  history.Start(big);
  const int64_t small = Submit(history, "llama3-1b-wsd",
                               {"resources.nodes=1", "train.global_batch=16", "train.steps=20000",
                                "schedule.kind=wsd", "schedule.decay_steps=4000"});
  history.Start(small);
  AddTrouble(history);
  for (int64_t step = history.CatchUp(restarted) / 500 * 500 + 500;
       history.now() + 25 * kMinute < options.end_ms; step += 500) {
    history.Train(restarted, step);
    history.Publish(restarted, step);
    history.Publish(big, history.CatchUp(big));
    history.CatchUp(small);
  }
  Submit(history, "qwen3-32b-warmup", {"resources.nodes=6", "train.global_batch=96"}, "grace");
  history.AdvanceTo(options.end_ms - 4 * kMinute);
  Submit(history, "mixtral-ablation-router-z", {"resources.nodes=1", "train.global_batch=16"});
  history.AdvanceTo(options.end_ms);
  for (const int64_t job : {restarted, big, small}) history.CatchUp(job);
}

void Write(const Options& options) {
  auto stores = controller::OpenSqliteStores(options.data_dir);
  if (!stores.ok()) {
    std::fprintf(stderr, "seed: %s\n", stores.status().ToString().c_str());
    std::exit(1);
  }
  // Creates the cluster id. A controller rejects a data directory without an id.
  const auto id = controller::LoadClusterId(options.data_dir, true);
  if (!id.ok()) {
    std::fprintf(stderr, "seed: %s\n", id.status().ToString().c_str());
    std::exit(1);
  }
  const int64_t many = options.jobs * 62'000L + options.points * 260;
  History history(*stores, options.end_ms - many - 60 * kHour);
  history.AddNodes(options.big_nodes + 8, 8);
  AddMillionPoints(history, options);
  AddManyJobs(history, options.jobs);
  history.AdvanceTo(options.end_ms - 26 * kHour);
  AddSweep(history, options.sweep);
  AddFinished(history);
  history.AdvanceTo(options.end_ms - 6 * kHour);
  AddFailed(history);
  AddPresent(history, options);
  std::ofstream(options.fleet_file) << history.Close().SerializeAsString();
}

}  // namespace
}  // namespace trainyard::seed

int main(int argc, char** argv) {
  trainyard::seed::Options options;
  options.end_ms = trainyard::SystemClock().Now();
  CLI::App app("Writes a seeded data directory for the tests of the dashboard.");
  app.add_option("--data-dir", options.data_dir)->required();
  app.add_option("--fleet-file", options.fleet_file)->required();
  app.add_option("--end-ms", options.end_ms, "the present of the history, Unix milliseconds");
  app.add_option("--jobs", options.jobs);
  app.add_option("--sweep", options.sweep);
  app.add_option("--points", options.points);
  app.add_option("--log-bytes", options.log_bytes);
  CLI11_PARSE(app, argc, argv);
  trainyard::seed::Write(options);
  return 0;
}
