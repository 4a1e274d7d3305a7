// Runs the ranks of a group as threads of one process.
#ifndef TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_
#define TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/parallel/in_memory_group.h"
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

// Calls body(rank) for every rank, each on a separate thread without autograd.
inline void RunThreads(int64_t size, const std::function<void(int64_t)>& body) {
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([rank, &body] {
      const torch::NoGradGuard no_grad;
      body(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

inline CommunicatorGroup GroupOfAll(int64_t rank, int64_t size) {
  CommunicatorGroup group{"test", std::vector<int64_t>(size), rank};
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

// Calls `body` for every rank of a group that communicates over TCP, each on a separate thread.
inline void RunRanks(int64_t size, const std::function<void(Communicator&)>& body) {
  const int64_t port = FreePort();
  RunThreads(size, [&](int64_t rank) {
    Rendezvous rendezvous(Environment(rank, size, port), std::chrono::seconds(30));
    body(*ConnectGroup(&rendezvous, GroupOfAll(rank, size), torch::kCPU));
  });
}

// Like RunRanks, but the group communicates over memory.
inline void RunRanksInMemory(int64_t size, const std::function<void(Communicator&)>& body) {
  InMemoryNetwork network;
  RunThreads(size, [&](int64_t rank) { body(*network.Connect(GroupOfAll(rank, size))); });
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_PARALLEL_RUN_RANKS_H_
