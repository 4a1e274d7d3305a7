#include "tests/simulation/replay/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trainyard::replay {
namespace {

constexpr int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
constexpr std::array<int64_t, 14> kUsualLimits = {
    10 * kMinute, 30 * kMinute, kHour,    2 * kHour, 4 * kHour, 8 * kHour, 12 * kHour,
    kDay,         2 * kDay,     3 * kDay, 7 * kDay,  14 * kDay, 30 * kDay, 60 * kDay};

int64_t NumberOf(const std::string& text, const std::string& place) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(absl::StrCat(place, ": `", text, "` is not a whole number"));
  }
  return number;
}

// The columns: submit_s, duration_s, gpus, user, queue, status.
TraceJob JobOf(const std::string& line, const std::string& place) {
  const std::vector<std::string> columns = absl::StrSplit(line, ',');
  if (columns.size() != 6) throw std::runtime_error(place + ": six columns are needed");
  TraceJob job{.submit = NumberOf(columns[0], place),
               .duration = NumberOf(columns[1], place),
               .gpus = static_cast<int>(NumberOf(columns[2], place)),
               .user = columns[3],
               .queue = columns[4]};
  if (job.duration < 1 || job.gpus < 1) {
    throw std::runtime_error(place + ": duration and gpus must be at least 1");
  }
  return job;
}

}  // namespace

std::vector<TraceJob> ReadTrace(const std::string& path, const TraceCut& cut) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<TraceJob> jobs;
  std::string line;
  std::getline(file, line);  // The names of the columns.
  for (int number = 2; std::getline(file, line); ++number) {
    TraceJob job = JobOf(line, absl::StrCat(path, ":", number));
    if (job.submit < cut.from || job.submit >= cut.to) continue;
    if (!cut.queue.empty() && job.queue != cut.queue) continue;
    job.submit -= cut.from;
    jobs.push_back(std::move(job));
  }
  std::ranges::stable_sort(jobs, {}, &TraceJob::submit);
  return jobs;
}

void SetUserLimits(uint64_t seed, std::vector<TraceJob>& jobs) {
  std::mt19937_64 random(seed);
  for (TraceJob& job : jobs) {
    const double part = static_cast<double>(random() >> 11) * 0x1.0p-53;  // In [0, 1).
    const double wanted = static_cast<double>(job.duration) * std::pow(10.0, part);
    const auto* const found = std::ranges::find_if(
        kUsualLimits, [&](int64_t limit) { return static_cast<double>(limit) >= wanted; });
    job.limit = std::max(job.duration, found == kUsualLimits.end() ? kUsualLimits.back() : *found);
  }
}

}  // namespace trainyard::replay
