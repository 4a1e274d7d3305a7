// Signals to which a running trainer reacts: SIGTERM (save and exit) and SIGUSR1 (save now).
// SIGPIPE does nothing to it.
#ifndef TRAINYARD_TRAINER_SIGNALS_H_
#define TRAINYARD_TRAINER_SIGNALS_H_

namespace trainyard::trainer {

// From this call on SIGUSR1 is remembered, and SIGTERM exits at once with 143: while ranks connect
// or load there is nothing to save.
void WatchSignals();

// From this call on SIGTERM is remembered too; the step loop acts on it. A second SIGTERM changes
// nothing: a sender that does not want to wait for the save sends SIGKILL.
void DeferStop();

// True when SIGTERM was received.
bool StopRequested();

// True when SIGUSR1 was received since the last call.
bool TakeSaveRequest();

// As if SIGUSR1 was received: the step that was to pass the request on has failed.
void RepeatSaveRequest();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SIGNALS_H_
