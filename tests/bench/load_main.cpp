// trainyard-bench-load: generates load on a running controller from a separate process. Prints the
// results as JSON.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "absl/strings/str_split.h"
#include "tests/bench/load.h"

int main(int argc, char** argv) {
  using namespace trainyard::bench;
  CLI::App app("Puts load on a running controller.");
  app.require_subcommand(1);
  std::string controller;
  app.add_option("--controller", controller,
                 "HOST:PORT; for workers also a list, HOST:PORT,HOST:PORT")
      ->required();

  SubmitLoad submit;
  CLI::App* submits = app.add_subcommand("submit", "submit jobs");
  submits->add_option("--prefix", submit.prefix, "names are PREFIX-NUMBER");
  submits->add_option("--jobs", submit.jobs, "how many")->check(CLI::PositiveNumber);
  submits->add_option("--callers", submit.callers, "calls under way")->check(CLI::PositiveNumber);
  submits->add_option("--nodes", submit.nodes, "nodes of each job");
  submits->add_option("--slots", submit.slots_per_node, "slots on each of its nodes");
  submits->add_flag("--refused", submit.refused, "requests that are refused when they are decoded");

  int page = 1000;
  CLI::App* lists = app.add_subcommand("list", "walk all pages of the job list");
  lists->add_option("--page", page, "jobs a page");

  IngestLoad ingest;
  CLI::App* ingests = app.add_subcommand("ingest", "send telemetry as fast as it is stored");
  ingests->add_option("--prefix", ingest.prefix, "names are PREFIX-NUMBER");
  ingests->add_option("--jobs", ingest.jobs, "jobs, each on a worker of its own");
  ingests->add_option("--steps", ingest.steps_per_job, "steps of each job, with 10 series");
  ingests->add_option("--batch", ingest.steps_per_batch, "steps a message");

  WorkerLoad workers;
  CLI::App* simulates = app.add_subcommand("workers", "simulate workers until stdin ends");
  simulates->add_option("--count", workers.workers, "how many")->check(CLI::PositiveNumber);
  simulates->add_option("--slots", workers.slots, "CPU slots of each");
  simulates->add_option("--heartbeat-ms", workers.heartbeat_ms, "time between two heartbeats");
  simulates->add_flag("--slow", workers.slow, "read nothing once they are welcome");

  FollowerLoad followers;
  CLI::App* follows = app.add_subcommand("followers", "follow a job and never read");
  follows->add_option("--job", followers.job, "which")->required();
  follows->add_option("--count", followers.followers, "how many")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  submit.controller = ingest.controller = controller;
  workers.controllers = absl::StrSplit(controller, ',');
  followers.controller = controller;
  nlohmann::json report;
  if (submits->parsed()) report = RunSubmitLoad(submit);
  if (lists->parsed()) report = RunListLoad(controller, page);
  if (ingests->parsed()) report = RunIngestLoad(ingest);
  if (simulates->parsed()) RunWorkerLoad(workers);
  if (follows->parsed()) RunFollowerLoad(followers);
  std::printf("%s\n", report.dump().c_str());
  return report.contains("error") ? 1 : 0;
}
