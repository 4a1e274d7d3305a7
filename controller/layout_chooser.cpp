#include "controller/layout_chooser.h"

#include <vector>

#include "controller/core/schedule/layout_choice.h"

namespace trainyard::controller {

void LayoutChooser::Start() {
  loop_.Read([this](const ClusterView&) {
    loop_.Listen([this](const ClusterView& view, const TickSummary&) {
      if (!busy_) AskNext(view);
      return true;
    });
  });
}

void LayoutChooser::AskNext(const ClusterView& view) {
  if (view.schedule.layout_questions.empty()) return;
  const LayoutQuestion& question = view.schedule.layout_questions.front();
  const JobEntry* entry = FindEntry(view.state, question.job_id);
  if (entry == nullptr) return;
  const v1::JobSpec& spec = entry->job.spec();
  // If the readers are busy, the next tick tries again.
  busy_ = readers_.TryPost([this, spec, question] { Choose(spec, question); });
}

// If the answer is refused, for example because the disk is full, the next tick asks again.
void LayoutChooser::Choose(const v1::JobSpec& spec, const LayoutQuestion& question) {
  loop_.Submit(ChooseLayout{question.job_id, ChooseLayoutFor(spec, question)},
               [this](const RequestOutcome&, const ClusterView&) { busy_ = false; });
}

}  // namespace trainyard::controller
