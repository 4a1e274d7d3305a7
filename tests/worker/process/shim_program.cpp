// Replaces trainyard-worker in tests. The `shim` command is the real shim.
#include <string_view>

#include "worker/process/shim.h"

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "shim") return 64;
  return trainyard::worker::RunShim(argc - 1, argv + 1);
}
