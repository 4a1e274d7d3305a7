#include "trainer/threads/run_within.h"

#include <future>
#include <thread>
#include <utility>

namespace trainyard::trainer {

bool RunWithin(std::chrono::milliseconds limit, std::function<void()> work) {
  std::packaged_task<void()> task(std::move(work));
  std::future<void> result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(limit) != std::future_status::ready) return false;
  result.get();
  return true;
}

}  // namespace trainyard::trainer
