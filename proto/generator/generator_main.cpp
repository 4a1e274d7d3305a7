// trainyard-generate-run-config ROOT: writes generated code into the source tree at ROOT. The code
// is the trainer's settings (run_config_generator.h) and the functions that read the settings from
// a job file (reader_generator.h).
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "proto/generator/reader_generator.h"
#include "proto/generator/run_config_generator.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: trainyard-generate-run-config ROOT\n";
    return 2;
  }
  std::vector<trainyard::GeneratedFile> files = trainyard::GenerateRunConfig();
  files.push_back(trainyard::GenerateSectionReaders());
  for (const trainyard::GeneratedFile& file : files) {
    const std::string path = std::string(argv[1]) + "/" + file.path;
    std::ofstream out(path, std::ios::binary);
    out << file.text;
    out.close();
    if (out) continue;
    std::cerr << "trainyard-generate-run-config: cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
