// Writes openapi.json: `trainyard-openapi DESCRIPTOR_SET OUTPUT`. This build tool is not installed.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "controller/http/openapi.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: trainyard-openapi DESCRIPTOR_SET OUTPUT\n");
    return 2;
  }
  std::ifstream input(argv[1], std::ios::binary);
  std::stringstream bytes;
  bytes << input.rdbuf();
  const auto text = trainyard::controller::http::RenderOpenApi(bytes.str());
  if (!text.ok()) {
    std::fprintf(stderr, "trainyard-openapi: %s\n", std::string(text.status().message()).c_str());
    return 1;
  }
  std::ofstream output(argv[2], std::ios::binary);
  output << *text;
  output.close();
  return output.good() ? 0 : 1;
}
