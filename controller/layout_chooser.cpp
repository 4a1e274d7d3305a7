#include "controller/layout_chooser.h"

#include <vector>

#include "controller/core/schedule/layout_choice.h"

namespace trainyard::controller {

namespace {

// Returns the first question that is still open. Skips questions that were answered since the
// schedule was made.
const LayoutQuestion* FirstOpenQuestion(const ClusterView& view) {
  for (const LayoutQuestion& question : view.schedule.layout_questions) {
    if (!view.state.pending_auto_jobs.contains(question.job_id)) continue;
    const JobEntry& entry = view.state.jobs.at(question.job_id);
    if (FindChoice(entry, question) == nullptr) return &question;
  }
  return nullptr;
}

}  // namespace

void LayoutChooser::Start() {
  loop_.Read([this](const ClusterView&) {
    loop_.Listen([this](const ClusterView& view, const TickSummary&) {
      if (!busy_) AskNext(view);
      return true;
    });
  });
}

void LayoutChooser::AskNext(const ClusterView& view) {
  const LayoutQuestion* next = FirstOpenQuestion(view);
  if (next == nullptr) return;
  const LayoutQuestion& question = *next;
  const v1::JobSpec& spec = view.state.jobs.at(question.job_id).job.spec();
  // If all readers are busy, the next tick tries again.
  busy_ = readers_.TryPost([this, spec, question, nodes = NodesFor(view.state, spec, question)] {
    Choose(spec, question, nodes);
  });
}

// If the choice is refused, for example because the disk is full, the next tick starts a new
// search.
void LayoutChooser::Choose(const v1::JobSpec& spec, const LayoutQuestion& question,
                           const LayoutNodes& nodes) {
  loop_.Submit(ChooseLayout{question.job_id, ChooseLayoutFor(spec, question, nodes)},
               [this](const RequestOutcome&, const ClusterView&) { busy_ = false; });
}

}  // namespace trainyard::controller
