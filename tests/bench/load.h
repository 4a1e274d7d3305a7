// Loads that the load program puts on a running controller: one function each, reporting in JSON.
#ifndef TRAINYARD_TESTS_BENCH_LOAD_H_
#define TRAINYARD_TESTS_BENCH_LOAD_H_

#include <nlohmann/json.hpp>
#include <string>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::bench {

// A job that trains a small model on CPU slots: the fields that a recipe has.
v1::JobSpec RecipeSpec(const std::string& name, int nodes, int slots_per_node);

struct SubmitLoad {
  std::string controller;
  // Names are <prefix>-<number>: no two runs on one controller may share a prefix.
  std::string prefix = "job";
  int jobs = 100;
  // Calls under way at any time.
  int callers = 1;
  int nodes = 1;
  int slots_per_node = 1;
  // Every call is refused before the loop sees it, so that only gRPC and the decoding of the
  // request are measured.
  bool refused = false;
};

// {"seconds", "jobs", "p50_ms", "p99_ms"}; {"error"} when a submission was refused.
nlohmann::json RunSubmitLoad(const SubmitLoad& load);

struct IngestLoad {
  std::string controller;
  std::string prefix = "ingest";
  // One worker and one stream of telemetry each.
  int jobs = 8;
  int64_t steps_per_job = 10'000;
  int64_t steps_per_batch = 100;
};

// Submits jobs to workers of its own, sends telemetry as fast as the controller takes it, and
// counts what is stored: {"seconds", "points", "stored_points"}; {"error"} when something fails.
nlohmann::json RunIngestLoad(const IngestLoad& load);

struct WorkerLoad {
  std::string controller;
  int workers = 100;
  int slots = 8;
  int64_t heartbeat_ms = 1000;
  // Slow consumers: the workers read nothing after Welcome.
  bool slow = false;
};

// Simulates workers until standard input ends. Writes one JSON object a line to standard output:
// {"attached": all workers, "time_ms"} whenever all of them have received Welcome.
void RunWorkerLoad(const WorkerLoad& load);

struct FollowerLoad {
  std::string controller;
  std::string job;
  int followers = 100;
};

// Holds followers that never read until standard input ends: half of them watch the job's state,
// half of them its output. Writes {"followers"} once all calls have begun.
void RunFollowerLoad(const FollowerLoad& load);

// Walks all pages of the job list: {"seconds", "jobs", "pages"}.
nlohmann::json RunListLoad(const std::string& controller, int page);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TESTS_BENCH_LOAD_H_
