// The three patch forms of the API, on JSON values.
#pragma once

#include <boost/json/fwd.hpp>

#include "base/result.h"
#include "meta/type_info.h"

namespace tau::kube {

// RFC 6902. Errors name the operation's index and path.
Result<void> apply_json_patch(boost::json::value& target, const boost::json::value& operations);
// RFC 7386.
void apply_merge_patch(boost::json::value& target, const boost::json::value& patch);
// Kubernetes' strategic merge: lists with a merge key (from `schema`) merge by it; $patch,
// $retainKeys, $deleteFromPrimitiveList and $setElementOrder are honoured. A null schema means a
// plain merge.
Result<void> apply_strategic_patch(boost::json::value& target, const boost::json::value& patch,
                                   const meta::TypeInfo* schema);

}  // namespace tau::kube
