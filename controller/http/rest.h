// The REST interface. Each operation decodes its request, calls the same request handler as gRPC,
// and encodes the answer.
#ifndef TRAINYARD_CONTROLLER_HTTP_REST_H_
#define TRAINYARD_CONTROLLER_HTTP_REST_H_

#include <string>

#include "controller/api/api.h"
#include "controller/http/assets.h"
#include "controller/http/exchange.h"
#include "controller/http/stream_feed.h"
#include "controller/http/target.h"

namespace trainyard::controller::http {

class Rest {
 public:
  // All arguments must outlive every call.
  Rest(const Api& api, StreamFeed& feed, const Assets& assets)
      : api_(api), feed_(feed), assets_(assets) {}

  // Handles a request for kApiPrefix or a path below it. Refuses a request that the caller's role
  // does not allow. Call on the server's thread.
  void Handle(Request request, Respond respond);

 private:
  struct Call;

  void Run(const Call& call);
  void RunAboutJob(const Call& call);
  void ChangeJob(const Call& call);
  void DeleteJob(const Call& call);
  // Cordons, uncordons or drains a node.
  void CordonNode(const Call& call);
  void RunAboutQueues(const Call& call);
  void RunAboutReservations(const Call& call);
  void RunAboutCluster(const Call& call);
  void RunAboutNodes(const Call& call);
  void ReadLogs(const Call& call);
  void ReadSeries(const Call& call);
  void CompareSeries(const Call& call);
  void EndSessions(const Call& call);
  void AskTopology(const Call& call);
  void GetNode(const Call& call);
  void RemoveNode(const Call& call);
  void ReleaseNode(const Call& call);
  void StreamEvents(const Call& call);

  const Api& api_;
  StreamFeed& feed_;
  const Assets& assets_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_REST_H_
