#include "base/result.h"

namespace tau {
const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_request:
      return "BadRequest";
    case ErrorCode::invalid:
      return "Invalid";
    case ErrorCode::unauthorized:
      return "Unauthorized";
    case ErrorCode::forbidden:
      return "Forbidden";
    case ErrorCode::not_found:
      return "NotFound";
    case ErrorCode::already_exists:
      return "AlreadyExists";
    case ErrorCode::conflict:
      return "Conflict";
    case ErrorCode::gone:
      return "Expired";
    case ErrorCode::too_large:
      return "RequestEntityTooLarge";
    case ErrorCode::unsupported:
      return "MethodNotAllowed";
    case ErrorCode::too_many:
      return "TooManyRequests";
    case ErrorCode::timeout:
      return "Timeout";
    case ErrorCode::unavailable:
      return "ServiceUnavailable";
    case ErrorCode::internal:
      return "InternalError";
  }
  return "InternalError";
}
}  // namespace tau
