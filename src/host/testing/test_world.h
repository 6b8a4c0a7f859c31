// What the tests of this module share: a folder that goes with the test, and a loop that waits for
// what is promised instead of sleeping.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "host/asio_loop.h"

namespace tau::host {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tau-host-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Long enough for a loaded machine; a test that passes never waits for it.
inline constexpr Duration patience = seconds(60);

inline bool wait_for(AsioLoop& loop, const std::function<bool()>& done) {
  return loop.run_until(done, patience);
}

}  // namespace tau::host
