// trainyard-generate-run-config FILE: writes the trainer's settings (run_config_generator.h).
#include <fstream>
#include <iostream>

#include "proto/generator/run_config_generator.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: trainyard-generate-run-config FILE\n";
    return 2;
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << trainyard::GenerateRunConfig();
  out.close();
  if (!out) std::cerr << "trainyard-generate-run-config: cannot write " << argv[1] << "\n";
  return out ? 0 : 1;
}
