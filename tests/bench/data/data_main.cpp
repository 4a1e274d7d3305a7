// trainyard-bench-data: measures parts of the data pipeline in memory. Prints JSON.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "tests/bench/data/measures.h"

int main(int argc, char** argv) {
  using namespace trainyard::data;
  CLI::App app("Measures parts of the data pipeline.");
  app.require_subcommand(1);
  absl::Status status;
  std::string first;
  std::string second;
  uint64_t bytes = 0;
  uint64_t seed = 1;
  int threads = 1;
  PlantedDocuments planted;

  const auto add = [&app](const char* name, const char* description, auto run) {
    CLI::App* command = app.add_subcommand(name, description);
    command->callback(run);
    return command;
  };
  const auto add_of_file = [&](const char* name, const char* description, const char* what,
                               auto measure) {
    CLI::App* command = add(name, description, [&, measure] { status = measure(first, second); });
    command->add_option(what, first)->required();
    command->add_option("FILE", second, "documents separated by NUL")->required();
  };
  add_of_file("encode", "encode all documents once", "TOKENIZER", MeasureEncoding);
  add_of_file("filter", "apply rules to all documents", "RULES", MeasureFilter);
  add_of_file("sign", "compute signatures of all documents", "PRESET", MeasureSignatures);

  CLI::App* repeat = add("repeat", "encode a text that repeats UNIT",
                         [&] { status = MeasureRepeatedText(first, second, bytes); });
  repeat->add_option("TOKENIZER", first)->required();
  repeat->add_option("UNIT", second)->required();
  repeat->add_option("--bytes", bytes)->required();

  CLI::App* bands = add("bands", "find duplicates of generated signatures",
                        [&] { status = MeasureBands(planted, threads, first); });
  bands->add_option("DIR", first, "directory for scratch files")->required();
  bands->add_option("--documents", planted.documents)->required();
  bands->add_option("--copies", planted.copies, "fraction of near duplicates");
  bands->add_option("--bucket", planted.bucket, "number of equal documents");
  bands->add_option("--threads", threads)->check(CLI::PositiveNumber);

  CLI::App* growth = add("growth", "count distinct words", [&] { status = MeasureGrowth(first); });
  growth->add_option("FILE", first)->required();
  CLI::App* text = add("text", "write generated text to standard output",
                       [&] { status = WriteGeneratedText(bytes, seed); });
  text->add_option("--bytes", bytes)->required();
  text->add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);

  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
