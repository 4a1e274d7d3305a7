// trainyard-bench-code: nodes that fetch a code snapshot at the same time. Prints the report as
// JSON.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "tests/bench/code/code_cluster.h"

int main(int argc, char** argv) {
  // Standard output contains only the report.
  spdlog::set_default_logger(spdlog::stderr_color_mt("bench"));
  trainyard::bench::CodeClusterLoad load;
  CLI::App app("Fetches a code snapshot on many nodes.");
  app.add_option("--directory", load.directory, "existing directory for all files")->required();
  app.add_option("--nodes", load.nodes, "number of nodes")->check(CLI::PositiveNumber);
  app.add_option("--files", load.files, "number of files")->check(CLI::PositiveNumber);
  app.add_option("--bytes", load.bytes, "bytes of all files")->check(CLI::PositiveNumber);
  app.add_option("--bad-nodes", load.bad_nodes, "nodes whose answers are useless");
  CLI11_PARSE(app, argc, argv);
  const auto report = trainyard::bench::RunCodeCluster(load);
  if (!report.ok()) {
    std::fprintf(stderr, "%s\n", std::string(report.status().message()).c_str());
    return 1;
  }
  const nlohmann::json result = {{"seconds", report->seconds},
                                 {"ready_nodes", report->ready_nodes},
                                 {"max_copies", report->max_copies},
                                 {"controller_bytes", report->controller_bytes}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}
