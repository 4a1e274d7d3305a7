// Loads for a running controller. One function per load; each reports in JSON.
#ifndef TRAINYARD_TESTS_BENCH_LOAD_H_
#define TRAINYARD_TESTS_BENCH_LOAD_H_

#include <nlohmann/json.hpp>
#include <string>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::bench {

// A job that trains a small model on CPU slots, with the fields of a recipe.
v1::JobSpec RecipeSpec(const std::string& name, int nodes, int slots_per_node);

struct SubmitLoad {
  std::string controller;
  // Names are <prefix>-<number>. Each run on a controller must have its own prefix.
  std::string prefix = "job";
  int jobs = 100;
  // Number of concurrent calls.
  int callers = 1;
  int nodes = 1;
  int slots_per_node = 1;
  // Every call is rejected before it reaches the loop, so that only gRPC and the decoding of the
  // request are measured.
  bool refused = false;
};

// {"seconds", "jobs", "p50_ms", "p99_ms"}; {"error"} if a submission was rejected.
nlohmann::json RunSubmitLoad(const SubmitLoad& load);

struct IngestLoad {
  std::string controller;
  std::string prefix = "ingest";
  // Each has one worker and one telemetry stream.
  int jobs = 8;
  int64_t steps_per_job = 10'000;
  int64_t steps_per_batch = 100;
};

// Submits jobs to simulated workers, sends telemetry as fast as the controller accepts it, and
// counts the stored points: {"seconds", "points", "stored_points"}; {"error"} on failure.
nlohmann::json RunIngestLoad(const IngestLoad& load);

struct WorkerLoad {
  std::string controller;
  int workers = 100;
  int slots = 8;
  int64_t heartbeat_ms = 1000;
  // Slow consumers: the workers read nothing after Welcome.
  bool slow = false;
};

// Simulates workers until the end of standard input. Writes one JSON object per line to standard
// output: {"attached": all workers, "time_ms"} whenever all of them have received Welcome.
void RunWorkerLoad(const WorkerLoad& load);

struct FollowerLoad {
  std::string controller;
  std::string job;
  int followers = 100;
};

// Keeps calls open that never read, until the end of standard input: half of them follow the job's
// state, half its output. Writes {"followers"} once all calls have begun.
void RunFollowerLoad(const FollowerLoad& load);

// Reads all pages of the job list: {"seconds", "jobs", "pages"}.
nlohmann::json RunListLoad(const std::string& controller, int page);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TESTS_BENCH_LOAD_H_
