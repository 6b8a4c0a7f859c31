// Manifests: YAML or JSON files of Kubernetes objects, with the line of each, so that an error says
// where.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/errors.h"
#include "kube/resources.h"

namespace tau::cmd {

struct Manifest {
  const kube::ResourceInfo* resource = nullptr;
  boost::json::object object;  // in the preferred version of its kind
  std::string name, ns;
  std::string file, text;  // the document's own text
  int first_line = 1;      // of the document in its file
};

// Every document of the text; lists are taken apart. `ns` is for namespaced objects that name none.
Try<std::vector<Manifest>> parse_manifests(std::string_view text, const std::string& file,
                                           const std::string& ns);
// A file, or standard input for "-".
Try<std::vector<Manifest>> read_manifests(const std::string& path, const std::string& ns);
// Puts "file:line  field" to a failure whose words name a field of the manifest
// ("spec.template.spec...").
Failure located(Failure failure, const Manifest& manifest);

}  // namespace tau::cmd
