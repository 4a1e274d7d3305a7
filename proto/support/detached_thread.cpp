#include "proto/support/detached_thread.h"

#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard {

absl::Status RunDetached(const std::string& what, std::function<void()> work) {
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread to ", what, ": ", error.what()));
  }
  return absl::OkStatus();
}

}  // namespace trainyard
