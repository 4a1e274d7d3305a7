// Signals of a running trainer: SIGTERM (save and exit) and SIGUSR1 (save now). SIGPIPE is ignored.
#ifndef TRAINYARD_TRAINER_PROCESS_SIGNALS_H_
#define TRAINYARD_TRAINER_PROCESS_SIGNALS_H_

namespace trainyard::trainer {

// Installs the handlers. SIGUSR1 is recorded. SIGTERM exits immediately with 143, since there is
// nothing to save while ranks connect or load.
void WatchSignals();

// From now on SIGTERM is recorded too, and the step loop acts on it. Further SIGTERMs have no
// effect; a sender that does not want to wait for the save sends SIGKILL.
void DeferStop();

// True once SIGTERM was received.
bool StopRequested();

// True if SIGUSR1 was received since the last call.
bool TakeSaveRequest();

// Restores a save request that was lost because the step passing it on failed.
void RepeatSaveRequest();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_SIGNALS_H_
