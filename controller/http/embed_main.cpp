// Packs a directory into the archive that assets.cpp embeds: `trainyard-embed DIRECTORY OUTPUT`. If
// the directory is missing, the archive is empty. This build tool is not installed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "controller/http/content.h"

namespace {

namespace fs = std::filesystem;

void AppendLength(std::size_t length, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(length >> shift & 0xff);
}

std::vector<fs::path> FilesBelow(const fs::path& directory) {
  std::vector<fs::path> files;
  if (!fs::is_directory(directory)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    // Vite's manifest is skipped, because only the build uses it.
    if (entry.is_regular_file() && entry.path().filename() != "manifest.json") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: trainyard-embed DIRECTORY OUTPUT\n");
    return 2;
  }
  std::string archive;
  for (const fs::path& file : FilesBelow(argv[1])) {
    std::ifstream input(file, std::ios::binary);
    std::stringstream bytes;
    bytes << input.rdbuf();
    const std::string name = "/" + fs::relative(file, argv[1]).generic_string();
    const std::string gzipped = trainyard::controller::http::Gzip(bytes.str(), 9);
    AppendLength(name.size(), archive);
    AppendLength(gzipped.size(), archive);
    archive += name + gzipped;
  }
  std::ofstream output(argv[2], std::ios::binary);
  output << archive;
  output.close();
  return output.good() ? 0 : 1;
}
