#include "trainer/parallel/rank_agreement.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Keys of the store. Each rank except 0 compares its facts with those of rank 0 and writes the
// differences as its answer. Rank 0 writes the result, a summary of the answers. If there are
// differences, every rank confirms that it has read the result, because rank 0's process serves the
// store and must not exit earlier.
constexpr char kFacts[] = "facts";
constexpr char kResult[] = "result";

std::string AnswerKey(int64_t rank) { return "answer/" + std::to_string(rank); }
std::string ReadKey(int64_t rank) { return "read/" + std::to_string(rank); }

constexpr std::chrono::seconds kReadLimit{5};
constexpr size_t kNamed = 5;

std::string ValueIn(const RankFacts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "not set" : found->second;
}

RankFacts AllNames(const RankFacts& here, const RankFacts& there) {
  RankFacts names = here;
  names.insert(there.begin(), there.end());
  return names;
}

void SetText(c10d::Store& store, const std::string& key, const std::string& text) {
  store.set(key, std::vector<uint8_t>(text.begin(), text.end()));
}

// Waits for the value of `key` and returns it. The error message names the rank `whose`.
std::string TextOf(c10d::Store& store, const std::string& key, const std::string& whose) {
  try {
    const std::vector<uint8_t> bytes = store.get(key);
    return {bytes.begin(), bytes.end()};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    throw TrainerError(ExitCode::kPeerLost, whose + " did not report its settings and versions: " +
                                                text.substr(0, text.find('\n')));
  }
}

std::string RankText(int64_t rank) { return "Rank " + std::to_string(rank); }

// Waits for the answers of all ranks. Returns a summary of the differences; "" if there are none.
std::string SumUp(c10d::Store& store, int64_t world_size) {
  std::string first;
  int64_t refused = 0;
  for (int64_t rank = 1; rank < world_size; ++rank) {
    const std::string answer = TextOf(store, AnswerKey(rank), RankText(rank));
    if (answer.empty()) continue;
    if (refused++ == 0) first = RankText(rank) + " differs from rank 0: " + answer;
  }
  return refused > 1 ? first + "; " + std::to_string(refused - 1) + " more ranks differ" : first;
}

void AwaitReaders(c10d::Store& store, int64_t world_size) {
  std::vector<std::string> keys;
  for (int64_t rank = 1; rank < world_size; ++rank) keys.push_back(ReadKey(rank));
  try {
    store.wait(keys, kReadLimit);
  } catch (const std::exception&) {
    // The rank has exited, so it does not need the result.
  }
}

}  // namespace

std::string FactDifferences(const RankFacts& here, const RankFacts& there) {
  std::string text;
  size_t count = 0;
  for (const auto& [name, _] : AllNames(here, there)) {
    const std::string ours = ValueIn(here, name), theirs = ValueIn(there, name);
    if (ours == theirs || ++count > kNamed) continue;
    text += (text.empty() ? "" : ", ") + name + " is " + ours + " instead of " + theirs;
  }
  if (count > kNamed) text += ", and " + std::to_string(count - kNamed) + " more values differ";
  return text;
}

void CheckRanksAgree(const Rendezvous& rendezvous, int64_t rank, int64_t world_size,
                     const RankFacts& facts) {
  const auto store = rendezvous.StoreOf("agreement");
  std::string result;
  if (rank == 0) {
    SetText(*store, kFacts, nlohmann::json(facts).dump());
    result = SumUp(*store, world_size);
    SetText(*store, kResult, result);
    if (!result.empty()) AwaitReaders(*store, world_size);
  } else {
    const std::string theirs = TextOf(*store, kFacts, RankText(0));
    const RankFacts there = nlohmann::json::parse(theirs).get<RankFacts>();
    SetText(*store, AnswerKey(rank), FactDifferences(facts, there));
    result = TextOf(*store, kResult, RankText(0));
    if (!result.empty()) SetText(*store, ReadKey(rank), "");
  }
  if (result.empty()) return;
  throw TrainerError(
      ExitCode::kBadConfig,
      result + ". Start all ranks with the same settings and the same installation.");
}

}  // namespace trainyard::trainer
