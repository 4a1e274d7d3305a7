// Once the bytes of a checkpoint or an alert are stored, the event log contains the checkpoint or
// alert. The log contains each alert once, or once more if a gang that healed in place trained the
// step again. The same rules apply to losses that the loss guard rejects. Events of deleted jobs
// need not be in the log.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/contract/telemetry_keys.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

class FactsBeforeBytesChecker : public Checker {
 public:
  const char* Name() const override { return "facts before bytes"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      if (std::string wrong = Learn(step.log[i]); !wrong.empty()) return wrong;
    }
    for (const auto& [key, stream] : step.store.streams()) {
      int64_t& checked = checked_[key];
      if (key.kind != v1::STREAM_KIND_TELEMETRY || stream.offset == checked) continue;
      const AttemptKey attempt{key.job_id, key.attempt};
      const Process* process = step.world.FindRank(attempt, key.rank);
      const auto records = process == nullptr ? 0 : static_cast<int64_t>(process->telemetry.size());
      for (; checked < std::min(stream.offset, records); ++checked) {
        if (deleted_.contains(key.job_id)) break;
        if (!IsInLog(attempt, process->telemetry[checked])) {
          return absl::StrCat("telemetry of job ", key.job_id, " attempt ", key.attempt,
                              " is stored before its record ", checked, " is in the event log");
        }
      }
      checked = stream.offset;
    }
    return "";
  }

 private:
  // Attempt and step.
  using Record = std::pair<AttemptKey, int64_t>;

  std::string Learn(const v1::Event& event) {
    if (event.has_job_deleted()) deleted_.insert(event.job_deleted().job_id());
    if (event.has_job_placed()) newest_[event.job_placed().job_id()] = event.job_placed().attempt();
    if (event.has_job_ended()) newest_.erase(event.job_ended().job_id());
    if (event.has_checkpoint_published()) {
      const v1::CheckpointPublished& published = event.checkpoint_published();
      checkpoints_.insert(
          {{published.job_id(), published.checkpoint().attempt()}, published.checkpoint().step()});
    }
    if (event.has_attempt_healing()) {
      const v1::AttemptHealing& healing = event.attempt_healing();
      healed_from_[{healing.job_id(), healing.attempt()}].push_back(healing.step());
    }
    if (!event.has_alert_raised()) return "";
    const v1::AlertRaised& alert = event.alert_raised();
    // The controller raises this alert about a step that may have an alert of its rank.
    if (alert.code() == telemetry::kPausedUnsaved) return "";
    const bool is_loss = alert.by_guard() || alert.code() == "nan_loss";
    auto& alerts = is_loss ? losses_ : alerts_;
    const Record record{{alert.job_id(), alert.attempt()}, alert.step()};
    const auto trained_again =
        std::ranges::count_if(healed_from_[record.first],
                              [&](int64_t newest_step) { return newest_step <= alert.step(); });
    return ++alerts[record] <= 1 + trained_again
               ? ""
               : absl::StrCat("the alert of step ", alert.step(), " was raised twice");
  }

  bool IsInLog(const AttemptKey& attempt, const v1::TelemetryRecord& record) const {
    if (record.has_checkpoint())
      return checkpoints_.contains({attempt, record.checkpoint().step()});
    if (record.alert().code() == "nan_loss") {
      return losses_.contains({attempt, record.alert().step()});
    }
    if (record.has_alert()) return alerts_.contains({attempt, record.alert().step()});
    const auto loss = record.metrics().values().find("loss");
    if (loss == record.metrics().values().end() || !std::isnan(loss->second)) return true;
    // Ignores losses of older attempts and of ended jobs, because such losses no longer matter.
    const auto newest = newest_.find(attempt.job_id);
    return newest == newest_.end() || newest->second != attempt.number ||
           losses_.contains({attempt, record.metrics().step()});
  }

  std::set<int64_t> deleted_;
  std::set<Record> checkpoints_;
  // Number of times that each alert was raised.
  std::map<Record, int64_t> alerts_;
  // Number of times that the loss guard or a trainer raised each alert about a loss.
  std::map<Record, int64_t> losses_;
  // For each attempt, the newest known step at the beginning of each heal.
  std::map<AttemptKey, std::vector<int64_t>> healed_from_;
  // The newest attempt of each job that has not ended.
  std::map<int64_t, int64_t> newest_;
  std::map<controller::StreamKey, int64_t> checked_;
};

}  // namespace

std::unique_ptr<Checker> FactsBeforeBytes() { return std::make_unique<FactsBeforeBytesChecker>(); }

}  // namespace trainyard::simulation
