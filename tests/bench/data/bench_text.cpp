#include <time.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "tests/bench/data/measures.h"

namespace trainyard::data {

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

absl::StatusOr<BenchText> ReadBenchText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  BenchText text;
  text.bytes.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || text.bytes.empty()) {
    return absl::NotFoundError("cannot read " + path + ", or it is empty; run corpus.py first");
  }
  const std::string_view all = text.bytes;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\0', begin), all.size());
    text.documents.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

}  // namespace trainyard::data
