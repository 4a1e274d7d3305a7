// Generates load on a running controller: one function per kind of load. Each function reports its
// results as JSON.
#ifndef TRAINYARD_TESTS_BENCH_LOAD_H_
#define TRAINYARD_TESTS_BENCH_LOAD_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::bench {

// Returns the spec of a job that trains a small model on CPU slots. The spec sets all fields that a
// recipe sets.
v1::JobSpec RecipeSpec(const std::string& name, int nodes, int slots_per_node);

struct SubmitLoad {
  std::string controller;
  // Jobs are named <prefix>-<number>. Each load on a controller needs its own prefix.
  std::string prefix = "job";
  int jobs = 100;
  // Number of concurrent calls.
  int callers = 1;
  int nodes = 1;
  int slots_per_node = 1;
  // Makes the controller reject every call before the loop sees it. As a result, only gRPC and the
  // decoding of the request are measured.
  bool refused = false;
};

// Returns {"seconds", "jobs", "p50_ms", "p99_ms"}, or {"error"} if a submission was rejected.
nlohmann::json RunSubmitLoad(const SubmitLoad& load);

struct IngestLoad {
  std::string controller;
  std::string prefix = "ingest";
  // Number of jobs, each with its own worker and telemetry stream.
  int jobs = 8;
  int64_t steps_per_job = 10'000;
  int64_t steps_per_batch = 100;
};

// Submits jobs to simulated workers, which send telemetry as fast as the controller accepts it,
// then counts the stored points. Returns {"seconds", "points", "stored_points"}, or {"error"} on
// failure.
nlohmann::json RunIngestLoad(const IngestLoad& load);

struct WorkerLoad {
  // HOST:PORT of each controller of the cluster.
  std::vector<std::string> controllers;
  int workers = 100;
  int slots = 8;
  int64_t heartbeat_ms = 1000;
  // Simulates slow consumers: the workers read nothing after Welcome.
  bool slow = false;
};

// Simulates workers until the end of standard input. Whenever all workers have received Welcome,
// prints one line of JSON: {"attached": number of workers, "time_ms"}.
void RunWorkerLoad(const WorkerLoad& load);

struct FollowerLoad {
  std::string controller;
  std::string job;
  int followers = 100;
};

// Until the end of standard input, keeps calls open without reading from them. Half of the calls
// follow the job's state, half follow its output. Prints {"followers"} when all calls have begun.
void RunFollowerLoad(const FollowerLoad& load);

// Reads all pages of the job list. Returns {"seconds", "jobs", "pages"}.
nlohmann::json RunListLoad(const std::string& controller, int page);

}  // namespace trainyard::bench

#endif  // TRAINYARD_TESTS_BENCH_LOAD_H_
