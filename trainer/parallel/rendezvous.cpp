#include "trainer/parallel/rendezvous.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <memory>
#include <thread>

#include "proto/files/unique_fd.h"
#include "trainer/config/trainer_error.h"
#include "trainer/parallel/interruption/interruptible_store.h"
#include "trainer/parallel/interruption/lost_store.h"
#include "trainer/threads/run_within.h"

namespace trainyard::trainer {
namespace {

bool PortIsTaken(const std::string& what) {
  return what.find("EADDRINUSE") != std::string::npos ||
         what.find("ddress already in use") != std::string::npos;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

c10::intrusive_ptr<c10d::Store> OpenStore(const RuntimeEnvironment& env,
                                          std::chrono::seconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(env.master_port);
  options.isServer = env.rank == 0;
  options.waitWorkers = false;  // If true, LibTorch 1.13 does not report missing workers.
  options.timeout = timeout;
  const std::string place = env.master_addr + ":" + std::to_string(env.master_port);
  // Two runs may use the same port by mistake. The run that could not bind the port soon exits.
  // Until then, separate keys keep the ranks of the two runs apart. The keys also exclude ranks of
  // an earlier generation.
  const std::string run =
      env.checkpoint_dir + "#" + std::to_string(env.attempt) + "#" + std::to_string(env.generation);
  try {
    return c10::make_intrusive<c10d::PrefixStore>(
        run, c10::make_intrusive<c10d::TCPStore>(env.master_addr, options));
  } catch (const std::exception& error) {
    if (env.rank == 0 && PortIsTaken(error.what())) {
      throw TrainerError(
          ExitCode::kTryAgain,
          "The rendezvous port " + place +
              " is in use by another program; start the ranks again with another MASTER_PORT.");
    }
    throw TrainerError(ExitCode::kPeerLost, "Rank 0 cannot be reached at the rendezvous " + place +
                                                ": " + FirstLine(error.what()));
  }
}

std::string ArrivalKey(int64_t rank) { return "arrived/" + std::to_string(rank); }

// Returns the ranks that have not connected, such as "1, 5".
std::string MissingRanks(c10d::Store& store, int64_t world_size) {
  std::string missing;
  for (int64_t rank = 0; rank < world_size; ++rank) {
    if (store.check({ArrivalKey(rank)})) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  return missing;
}

c10::intrusive_ptr<c10d::Store> Within(const std::string& prefix,
                                       const c10::intrusive_ptr<c10d::Store>& store,
                                       const Interruption* interruption,
                                       std::chrono::seconds timeout) {
  if (interruption == nullptr) return c10::make_intrusive<c10d::PrefixStore>(prefix, store);
  return c10::make_intrusive<InterruptibleStore>(prefix, store, *interruption, timeout);
}

void WaitForAllRanks(c10d::Store& store, const RuntimeEnvironment& env,
                     std::chrono::seconds timeout) {
  std::vector<std::string> keys;
  for (int64_t rank = 0; rank < env.world_size; ++rank) keys.push_back(ArrivalKey(rank));
  std::string missing;
  try {
    store.set(ArrivalKey(env.rank), std::vector<uint8_t>{1});
    store.wait(keys, timeout);
    return;
  } catch (const std::exception& error) {
    missing = "lost the connection to rank 0: " + FirstLine(error.what());
  }
  try {
    missing = "missing: rank " + MissingRanks(store, env.world_size);
  } catch (const std::exception&) {  // Rank 0 has exited. Report the first reason instead.
  }
  throw TrainerError(ExitCode::kPeerLost, "Not all of the " + std::to_string(env.world_size) +
                                              " ranks joined the rendezvous within " +
                                              std::to_string(timeout.count()) + " s; " + missing);
}

// True if a process listens at the rendezvous address.
bool HasServer(const RuntimeEnvironment& env) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(env.master_port);
  if (getaddrinfo(env.master_addr.c_str(), port.c_str(), &hints, &found) != 0) return false;
  bool is_there = false;
  for (const addrinfo* entry = found; entry != nullptr && !is_there; entry = entry->ai_next) {
    const UniqueFd socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_there = socket.valid() && connect(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0;
  }
  freeaddrinfo(found);
  return is_there;
}

// Waits until rank 0 listens. Polls here, because LibTorch's store would wait for one second after
// each failed attempt to connect.
void AwaitServer(const RuntimeEnvironment& env, std::chrono::seconds timeout,
                 const Interruption& interruption) {
  constexpr std::chrono::milliseconds kPause{10};
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (env.rank != 0 && !HasServer(env)) {
    interruption.Check();
    if (std::chrono::steady_clock::now() > end) return;  // LibTorch's store will report the error.
    std::this_thread::sleep_for(kPause);
  }
}

// Opens the store and waits for all ranks. RunWithin limits the total time, because LibTorch's
// store limits its waits but not its reads from rank 0. If rank 0's process is suspended, it never
// replies.
c10::intrusive_ptr<c10d::Store> Meet(const RuntimeEnvironment& env, std::chrono::seconds timeout,
                                     const Interruption* interruption) {
  constexpr std::chrono::seconds kMargin{5};  // Lets the store fail first, with a clearer error.
  if (interruption != nullptr) AwaitServer(env, timeout, *interruption);
  const auto store = std::make_shared<c10::intrusive_ptr<c10d::Store>>();
  const bool met = RunWithin(2 * timeout + kMargin, [env, timeout, store, interruption] {
    *store = OpenStore(env, timeout);
    try {
      WaitForAllRanks(*Within("arrival", *store, interruption, timeout), env, timeout);
    } catch (const std::exception&) {
      if (HasStoppedStoreThread()) static_cast<void>(store->release());
      throw;
    }
  });
  if (met) return *store;
  throw TrainerError(ExitCode::kPeerLost, "Rank 0 does not answer at the rendezvous " +
                                              env.master_addr + ":" +
                                              std::to_string(env.master_port) + ".");
}

// Returns the address of this host that the kernel would use as the source of packets to `target`,
// such as "10.0.0.7". Sends no packet.
std::string SourceAddress(const addrinfo& target) {
  const int socket = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return "";
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  char text[NI_MAXHOST] = "";
  if (connect(socket, target.ai_addr, target.ai_addrlen) == 0 &&
      getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    getnameinfo(reinterpret_cast<sockaddr*>(&address), length, text, sizeof(text), nullptr, 0,
                NI_NUMERICHOST);
  }
  close(socket);
  return text;
}

}  // namespace

std::string LocalAddressTowards(const std::string& host, int64_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return "127.0.0.1";
  }
  std::string address;
  for (const addrinfo* entry = found; entry != nullptr && address.empty(); entry = entry->ai_next) {
    address = SourceAddress(*entry);
  }
  freeaddrinfo(found);
  return address.empty() ? "127.0.0.1" : address;
}

Rendezvous::Rendezvous(const RuntimeEnvironment& env, std::chrono::seconds timeout,
                       Interruption* interruption)
    : timeout_(timeout),
      interruption_(interruption),
      store_(Meet(env, timeout, interruption)),
      local_address_(LocalAddressTowards(env.master_addr, env.master_port)) {}

Rendezvous::~Rendezvous() {
  if (HasStoppedStoreThread()) static_cast<void>(store_.release());
}

c10::intrusive_ptr<c10d::Store> Rendezvous::StoreOf(const std::string& group) const {
  return Within(group, store_, interruption_, timeout_);
}

}  // namespace trainyard::trainer
