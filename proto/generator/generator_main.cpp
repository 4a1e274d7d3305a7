// trainyard-generate-run-config FOLDER: writes the trainer's settings (run_config_generator.h).
#include <fstream>
#include <iostream>
#include <string>

#include "proto/generator/run_config_generator.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: trainyard-generate-run-config FOLDER\n";
    return 2;
  }
  for (const trainyard::GeneratedHeader& header : trainyard::GenerateRunConfig()) {
    const std::string path = std::string(argv[1]) + "/" + header.name;
    std::ofstream out(path, std::ios::binary);
    out << header.text;
    out.close();
    if (out) continue;
    std::cerr << "trainyard-generate-run-config: cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
