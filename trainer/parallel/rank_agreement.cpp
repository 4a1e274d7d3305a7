#include "trainer/parallel/rank_agreement.h"

#include <nlohmann/json.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kKey[] = "facts";
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

RankFacts FactsOfRankZero(c10d::Store& store) {
  try {
    const std::vector<uint8_t> bytes = store.get(kKey);
    return nlohmann::json::parse(bytes.begin(), bytes.end()).get<RankFacts>();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    throw TrainerError(ExitCode::kPeerLost, "Rank 0 does not say how it was started: " +
                                                text.substr(0, text.find('\n')));
  }
}

}  // namespace

std::string FactDifferences(const RankFacts& here, const RankFacts& there) {
  std::string text;
  size_t count = 0;
  for (const auto& [name, _] : AllNames(here, there)) {
    const std::string ours = ValueIn(here, name), theirs = ValueIn(there, name);
    if (ours == theirs || ++count > kNamed) continue;
    text += (text.empty() ? "" : ", ") + name + " is " + ours + " here and " + theirs + " there";
  }
  if (count > kNamed) text += ", and " + std::to_string(count - kNamed) + " more differ";
  return text;
}

void CheckRanksAgree(const Rendezvous& rendezvous, int64_t rank, const RankFacts& facts) {
  const auto store = rendezvous.StoreOf("agreement");
  if (rank == 0) {
    const std::string text = nlohmann::json(facts).dump();
    store->set(kKey, std::vector<uint8_t>(text.begin(), text.end()));
    return;
  }
  const std::string differences = FactDifferences(facts, FactsOfRankZero(*store));
  if (differences.empty()) return;
  throw TrainerError(ExitCode::kBadConfig,
                     "Rank " + std::to_string(rank) +
                         " was not started like rank 0: " + differences +
                         ". Start all ranks with the same settings and the same installation.");
}

}  // namespace trainyard::trainer
