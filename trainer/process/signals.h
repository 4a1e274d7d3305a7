// The signals of a running trainer: SIGTERM (save and exit) and SIGUSR1 (save now). SIGPIPE is
// ignored.
#ifndef TRAINYARD_TRAINER_PROCESS_SIGNALS_H_
#define TRAINYARD_TRAINER_PROCESS_SIGNALS_H_

namespace trainyard::trainer {

// Installs the handlers. SIGUSR1 is recorded. SIGTERM ends the process immediately with code 143,
// because there is nothing to save while ranks connect or load.
void WatchSignals();

// After this call, SIGTERM is only recorded, and the step loop acts on it. Further SIGTERMs have no
// effect; a sender that does not want to wait for the save must send SIGKILL.
void DeferStop();

// True once SIGTERM has been received.
bool StopRequested();

// True if SIGUSR1 has been received since the previous call.
bool TakeSaveRequest();

// Restores a save request that TakeSaveRequest has returned. Must be called if the step that
// carried the request to the other ranks has failed.
void RepeatSaveRequest();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_SIGNALS_H_
