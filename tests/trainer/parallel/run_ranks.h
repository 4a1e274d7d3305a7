// The ranks of a group as threads of one process, which talk over TCP.
#ifndef TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_
#define TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "tests/trainer/parallel/free_port.h"
#include "trainer/parallel/communicator.h"
#include "trainer/parallel/rendezvous.h"

namespace trainyard::trainer {

inline RuntimeEnvironment Environment(int64_t rank, int64_t size, int64_t port) {
  RuntimeEnvironment env;
  env.rank = rank;
  env.world_size = size;
  env.master_port = port;
  return env;
}

// Runs `body` as every rank of a group, each on a thread of its own.
inline void RunRanks(int64_t size, const std::function<void(Communicator&)>& body) {
  const int64_t port = FreePort();
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([=, &body] {
      Rendezvous rendezvous(Environment(rank, size, port), std::chrono::seconds(30));
      CommunicatorGroup group{"test", {}, rank};
      for (int64_t member = 0; member < size; ++member) group.ranks.push_back(member);
      const auto communicator = ConnectGroup(&rendezvous, group, torch::kCPU);
      EXPECT_EQ(communicator->rank(), rank);
      EXPECT_EQ(communicator->size(), size);
      body(*communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_
