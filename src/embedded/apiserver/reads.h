// The reading verbs: get, list, watch.
#pragma once

#include "embedded/apiserver/call.h"
#include "embedded/apiserver/service.h"

namespace tau::apiserver {

void get_object(Service& service, Call& call);
void list_objects(Service& service, Call& call);
// Hands the call's sink to the watches, or answers the error.
void watch_objects(Service& service, Call& call);

}  // namespace tau::apiserver
