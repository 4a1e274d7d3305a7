// The dashboard's files. They are either compressed and embedded into the program at build time, or
// read from a directory.
#ifndef TRAINYARD_CONTROLLER_HTTP_ASSETS_H_
#define TRAINYARD_CONTROLLER_HTTP_ASSETS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "controller/http/exchange.h"

namespace trainyard::controller::http {

class Assets {
 public:
  // Returns the files embedded in the program. DATA_LOSS: the archive is damaged.
  static absl::StatusOr<Assets> Embedded();
  // Reads each file from the directory when a client requests it. NOT_FOUND: there is no
  // index.html.
  static absl::StatusOr<Assets> InDirectory(const std::string& directory);

  // Answers a request for a file. If `path` names no file but looks like a page of the dashboard,
  // answers with index.html, whose script handles the path.
  Response Answer(const Request& request, const std::string& path) const;

  // The checked-in openapi.json.
  std::string_view OpenApi() const;

 private:
  struct File {
    std::string_view gzipped;
    std::string etag;
  };

  Response AnswerEmbedded(const Request& request, const std::string& path) const;
  Response AnswerFromDirectory(const std::string& path) const;

  std::map<std::string, File, std::less<>> files_;
  std::string directory_;
};

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_ASSETS_H_
