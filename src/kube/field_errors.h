// Builds FieldErrors in the API server's words, and the syntax rules that many fields share.
#pragma once

#include <boost/json/fwd.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/validation.h"

namespace tau::kube {

class ErrorList {
 public:
  void required(std::string field, std::string_view detail = {});
  void invalid(std::string field, std::string_view value, std::string_view detail);  // a text
  void invalid_value(std::string field, const boost::json::value& value,
                     std::string_view detail);  // any JSON
  void not_supported(std::string field, std::string_view value,
                     std::initializer_list<std::string_view> supported);
  void duplicate(std::string field, std::string_view value);
  void forbidden(std::string field, std::string_view detail);
  void not_found(std::string field, std::string_view value);
  void too_long(std::string field, size_t bytes);
  FieldErrors take() { return std::move(errors_); }
  bool is_empty() const { return errors_.empty(); }

  // Adds "invalid" when the rule says what is wrong.
  void check(std::string field, std::string_view value, std::optional<std::string> wrong) {
    if (wrong) invalid(std::move(field), value, *wrong);
  }
  // The value, unless empty, must be one of these.
  void one_of(std::string field, std::string_view value,
              std::initializer_list<std::string_view> supported);
  // The integer, where there is one, must not be negative.
  void not_negative(std::string field, const boost::json::object& object, std::string_view key);

 private:
  FieldErrors errors_;
};

// Each says what is wrong with the text, or nothing.
std::optional<std::string> wrong_subdomain(std::string_view text);  // DNS-1123 subdomain
std::optional<std::string> wrong_label(std::string_view text);      // DNS-1123 label
std::optional<std::string> wrong_label_value(std::string_view text);
std::optional<std::string> wrong_qualified_name(std::string_view text);  // a label's key

// The parts that several kinds share.
void check_labels(ErrorList& errors, const boost::json::object& labels, const std::string& path);
void check_annotations(ErrorList& errors, const boost::json::object& annotations,
                       const std::string& path);
void check_label_selector(ErrorList& errors, const boost::json::object& selector,
                          const std::string& path);
// A quantity that must parse and not be negative.
void check_quantity(ErrorList& errors, const boost::json::value& value, const std::string& path);
void check_tolerations(ErrorList& errors, const boost::json::array& tolerations,
                       const std::string& path);
void check_taints(ErrorList& errors, const boost::json::array& taints, const std::string& path);
// `now` must equal `old` (both may be null = absent).
void check_immutable(ErrorList& errors, const boost::json::object& now,
                     const boost::json::object& old, std::string_view key, const std::string& path);

// By kind (validation_pod.cc, validation_job.cc, validation_kueue.cc).
void check_pod_spec(ErrorList& errors, const boost::json::object& spec, const std::string& path);
void check_pod_update(ErrorList& errors, const boost::json::object& now,
                      const boost::json::object& old);
void check_job(ErrorList& errors, const boost::json::object& job);
void check_job_update(ErrorList& errors, const boost::json::object& now,
                      const boost::json::object& old);
void check_kueue(ErrorList& errors, Kind kind, const boost::json::object& object);
void check_kueue_update(ErrorList& errors, Kind kind, const boost::json::object& now,
                        const boost::json::object& old);

}  // namespace tau::kube
