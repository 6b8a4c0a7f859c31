// Interner<Id>: names to dense ids and back. Ids are handed out in order of first sight and may be
// freed.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/check.h"

namespace tau {

template <class IdType>
class Interner {
 public:
  // The id of `name`, made if need be.
  IdType intern(std::string_view name) {
    if (const auto found = ids_.find(std::string(name)); found != ids_.end()) return found->second;
    IdType id;
    if (!free_.empty()) {
      id = free_.back();
      free_.pop_back();
      names_[id.index()] = std::string(name);
    } else {
      id = IdType(static_cast<uint32_t>(names_.size()));
      names_.emplace_back(name);
    }
    ids_.emplace(std::string(name), id);
    return id;
  }
  // The id of `name`, or none.
  IdType find(std::string_view name) const {
    const auto found = ids_.find(std::string(name));
    return found == ids_.end() ? IdType{} : found->second;
  }
  const std::string& name(IdType id) const {
    CHECK(id.index() < names_.size());
    return names_[id.index()];
  }
  // Frees an id for reuse; the caller must have forgotten it.
  void release(IdType id) {
    CHECK(id.index() < names_.size());
    ids_.erase(names_[id.index()]);
    names_[id.index()].clear();
    free_.push_back(id);
  }
  size_t capacity() const { return names_.size(); }

 private:
  std::unordered_map<std::string, IdType> ids_;
  std::vector<std::string> names_;
  std::vector<IdType> free_;
};

}  // namespace tau
