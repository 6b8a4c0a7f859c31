#include "host/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tau::host {
namespace {
std::unexpected<Error> failed(std::string_view doing, const std::string& path) {
  const ErrorCode code = errno == ENOENT   ? ErrorCode::not_found
                         : errno == EACCES ? ErrorCode::forbidden
                                           : ErrorCode::unavailable;
  return fail(code, fmt::format("cannot {} {}: {}", doing, path, std::strerror(errno)));
}
}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed("read", path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<void> write_file(const std::string& path, std::string_view text, int mode) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = open(temporary.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return failed("write", path);
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const auto error = failed("write", path);
      close(fd);
      unlink(temporary.c_str());
      return error;
    }
    done += static_cast<size_t>(n);
  }
  const bool is_safe = fsync(fd) == 0;
  close(fd);
  if (!is_safe || rename(temporary.c_str(), path.c_str()) != 0) {
    const auto error = failed("write", path);
    unlink(temporary.c_str());
    return error;
  }
  return {};
}

Result<void> make_folder(const std::string& path, int mode) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return fail(ErrorCode::unavailable,
                fmt::format("cannot make folder {}: {}", path, error.message()));
  chmod(path.c_str(), static_cast<mode_t>(mode));
  return {};
}

bool file_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

std::string home_folder() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? "/" : user->pw_dir;
}

Result<FileLock> FileLock::take(const std::string& path) {
  const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return failed("open", path);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    return fail(ErrorCode::conflict, fmt::format("{} is held by another process", path));
  }
  return FileLock(fd);
}
FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace tau::host
