#include "trainer/parallel/interruption/lost_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {
namespace {

template <typename Error>
void ThrowInThread(const Error& error) {
  LeaveWhenStoreIsLost();
  std::thread([&error] { throw error; }).join();
}

TEST(LostStoreTest, ABrokenConnectionIsALostPeer) {
  EXPECT_EXIT(ThrowInThread(std::system_error(ECONNRESET, std::system_category())),
              testing::ExitedWithCode(static_cast<int>(ExitCode::kPeerLost)),
              "connection to rank 0's store broke: Connection reset by peer");
}

TEST(LostStoreTest, AnythingElseAborts) {
  EXPECT_EXIT(ThrowInThread(std::runtime_error("a bug")), testing::KilledBySignal(SIGABRT),
              "a bug");
  EXPECT_EXIT(ThrowInThread(std::system_error(ENOMEM, std::system_category())),
              testing::KilledBySignal(SIGABRT), "Cannot allocate memory");
}

}  // namespace
}  // namespace trainyard::trainer
