#include "worker/process/mark_reader.h"

#include <condition_variable>
#include <set>
#include <utility>

#include "proto/support/detached_thread.h"

namespace trainyard::worker {

// The programs whose environments one thread reads, in this order.
struct MarkReader::Batch {
  std::mutex mutex;
  std::condition_variable changed;
  const std::vector<Program> programs;
  // The marks that have been read so far, in the order of the programs.
  std::vector<absl::StatusOr<std::optional<Mark>>> marks;
  // Set when no search waits for the thread any longer. In this case the thread ends after its
  // current read.
  bool abandoned = false;

  explicit Batch(std::vector<Program> all) : programs(std::move(all)) {}

  void Run(const Read& read) {
    for (const Program& program : programs) {
      absl::StatusOr<std::optional<Mark>> mark = read(program.pid);
      const std::lock_guard lock(mutex);
      marks.push_back(std::move(mark));
      changed.notify_all();
      if (abandoned) return;
    }
  }

  // Returns the mark of the program; nullopt if the mark is not read yet.
  std::optional<absl::StatusOr<std::optional<Mark>>> MarkOf(const Program& program) {
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      if (programs[i] == program) return marks[i];
    }
    return std::nullopt;
  }
};

MarkReader::MarkReader(Read read, std::chrono::milliseconds patience)
    : read_(std::move(read)), patience_(patience) {}

MarkReader::Program MarkReader::ProgramOf(const ProcessStat& process) {
  return {process.pid, process.start_time, process.environment_begin, process.environment_end};
}

std::map<pid_t, Mark> MarkReader::MarksOf(const std::vector<ProcessStat>& processes) {
  const std::lock_guard lock(searching_);
  std::erase_if(hung_, [this](const auto& hung) {
    const auto mark = hung.second->MarkOf(hung.first);
    if (mark.has_value()) Learn(hung.first, *mark);
    return mark.has_value();
  });
  std::set<Program> present;
  std::vector<Program> unread;
  for (const ProcessStat& process : processes) {
    const Program program = ProgramOf(process);
    present.insert(program);
    if (!known_.contains(program) && !hung_.contains(program)) unread.push_back(program);
  }
  ReadAll(std::move(unread));
  std::erase_if(known_, [&](const auto& known) { return !present.contains(known.first); });
  std::map<pid_t, Mark> marks;
  for (const auto& [program, mark] : known_) {
    if (mark.has_value()) marks[program.pid] = *mark;
  }
  return marks;
}

void MarkReader::Learn(const Program& program, const absl::StatusOr<std::optional<Mark>>& mark) {
  if (absl::IsResourceExhausted(mark.status())) return;
  known_[program] = mark.ok() ? *mark : std::nullopt;
}

void MarkReader::ReadAll(std::vector<Program> programs) {
  while (!programs.empty()) programs = ReadSome(std::move(programs));
}

std::vector<MarkReader::Program> MarkReader::ReadSome(std::vector<Program> programs) {
  const auto batch = std::make_shared<Batch>(std::move(programs));
  // If no thread can be started, read on this thread. This may block, but finding no marks would be
  // worse.
  if (!RunDetached("read marks", [batch, read = read_] { batch->Run(read); }).ok()) {
    batch->Run(read_);
  }
  std::unique_lock lock(batch->mutex);
  std::size_t seen = 0;
  while (batch->marks.size() < batch->programs.size()) {
    const bool moved =
        batch->changed.wait_for(lock, patience_, [&] { return batch->marks.size() > seen; });
    if (!moved) break;
    seen = batch->marks.size();
  }
  batch->abandoned = true;
  const std::size_t count = batch->marks.size();
  for (std::size_t i = 0; i < count; ++i) Learn(batch->programs[i], batch->marks[i]);
  if (count == batch->programs.size()) return {};
  hung_[batch->programs[count]] = batch;
  return {batch->programs.begin() + static_cast<std::ptrdiff_t>(count) + 1, batch->programs.end()};
}

}  // namespace trainyard::worker
