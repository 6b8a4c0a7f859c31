#include "host/private_mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.h"

namespace tau::host {
namespace {

std::unexpected<Error> failed(const std::string& doing) {
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", doing, std::strerror(errno)));
}

struct Fd {
  explicit Fd(int n) : number(n) {}
  Fd(Fd&& other) noexcept : number(std::exchange(other.number, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() {
    if (number >= 0) close(number);
  }
  // A path of the same thing, whatever is mounted over it meanwhile.
  std::string path() const { return fmt::format("/proc/self/fd/{}", number); }
  int number;
};

bool is_folder(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}
bool exists(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0;
}

Result<void> touch(const std::string& path) {
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) return failed("cannot make " + path);
  close(fd);
  return {};
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return failed("cannot read " + path);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  return names;
}

// Shows all entries of `from` in the empty folder `to`.
Result<void> copy_entries(const std::string& from, const std::string& to) {
  const auto names = TRY(names_in(from));
  for (const std::string& name : names) {
    const std::string source = from + "/" + name, target = to + "/" + name;
    struct stat found{};
    if (lstat(source.c_str(), &found) != 0) continue;  // gone meanwhile
    if (S_ISLNK(found.st_mode)) {
      char link[PATH_MAX];
      const ssize_t size = readlink(source.c_str(), link, sizeof link);
      if (size > 0)
        (void)symlink(std::string(link, static_cast<size_t>(size)).c_str(), target.c_str());
      continue;
    }
    if (S_ISDIR(found.st_mode)) {
      if (mkdir(target.c_str(), 0755) != 0) return failed("cannot make " + target);
    } else {
      TRY_VOID(touch(target));
    }
    if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
      return failed("cannot show " + source);
    }
  }
  return {};
}

Result<void> mount_tmpfs(const std::string& path, mode_t mode) {
  const std::string options = fmt::format("mode={:o}", mode & 07777);
  if (mount("taugrid", path.c_str(), "tmpfs", 0, options.c_str()) == 0) return {};
  return failed("cannot mount over " + path);
}

// The root folder cannot be mounted over: a new root takes its place.
Result<void> replace_root(const std::string& scratch) {
  TRY_VOID(mount_tmpfs(scratch, 0755));
  TRY_VOID(copy_entries("/", scratch));
  if (chdir(scratch.c_str()) != 0) return failed("cannot enter the private root");
  if (syscall(SYS_pivot_root, ".", ".") != 0) return failed("cannot change to the private root");
  if (umount2(".", MNT_DETACH) != 0) return failed("cannot leave the old root");
  return chdir("/") == 0 ? Result<void>() : failed("cannot enter the private root");
}

bool has_mounts_below(const std::string& path) {
  const auto text = read_whole("/proc/self/mountinfo");
  if (!text) return true;
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() > 4 && words[4].starts_with(path + "/")) return true;
  }
  return false;
}

// A writable layer in memory over a folder: cheap for one with many entries, but what is mounted
// below it would be hidden, and not every kernel and file system can do it.
bool overlay(const std::string& path, const std::string& layer) {
  if (has_mounts_below(path) || path.find_first_of(",:\\") != std::string::npos) return false;
  if (!make_folders(layer, 0755) || !mount_tmpfs(layer, 0755)) return false;
  const std::string upper = layer + "/upper", work = layer + "/work";
  struct stat before{};
  if (stat(path.c_str(), &before) != 0 || mkdir(upper.c_str(), before.st_mode & 07777) != 0 ||
      mkdir(work.c_str(), 0755) != 0) {
    return false;
  }
  (void)!chown(upper.c_str(), before.st_uid, before.st_gid);
  const std::string options = fmt::format("lowerdir={},upperdir={},workdir={}", path, upper, work);
  return mount("taugrid", path.c_str(), "overlay", 0, options.c_str()) == 0;
}

constexpr size_t many_entries = 64;

class Room {
 public:
  explicit Room(std::string scratch) : scratch_(std::move(scratch)) {}

  // Makes `path` exist, in this namespace alone.
  Result<void> make(const std::string& path, bool as_folder) {
    if (exists(path)) return {};
    std::string present = path;
    while (!exists(present)) present = present.substr(0, std::max<size_t>(1, present.rfind('/')));
    if (!is_folder(present)) return fail(ErrorCode::invalid, present + " is not a folder");
    char real[PATH_MAX];
    if (realpath(present.c_str(), real) == nullptr) return failed("cannot find " + present);
    const bool is_ours = std::ranges::any_of(ours_, [&](const std::string& known) {
      return known == real || std::string_view(real).starts_with(known + "/");
    });
    if (!is_ours) TRY_VOID(cover(real));
    return make_below(path, as_folder);
  }
  // What was mounted shows the machine's files again, also below a folder that was private.
  void forget_below(const std::string& path) {
    std::erase_if(ours_, [&](const std::string& known) {
      return known == path || known.starts_with(path + "/");
    });
  }

 private:
  Result<void> cover(const std::string& real) {
    if (real == "/") {
      TRY_VOID(replace_root(scratch_));
      return {};
    }
    const size_t entries = TRY(names_in(real)).size();
    if (entries > many_entries && overlay(real, fmt::format("{}-{}", scratch_, layers_++)))
      return {};
    struct stat before{};
    const Fd old(open(real.c_str(), O_PATH | O_CLOEXEC));
    if (old.number < 0 || fstat(old.number, &before) != 0) return failed("cannot open " + real);
    TRY_VOID(mount_tmpfs(real, before.st_mode));
    (void)!chown(real.c_str(), before.st_uid, before.st_gid);
    return copy_entries(old.path(), real);
  }

  Result<void> make_below(const std::string& path, bool as_folder) {
    std::string so_far;
    for (const std::string_view part : split(path, '/')) {
      if (part.empty()) continue;
      so_far += "/" + std::string(part);
      if (exists(so_far)) continue;
      if (so_far == path && !as_folder) return touch(so_far);
      if (mkdir(so_far.c_str(), 0755) != 0) return failed("cannot make " + so_far);
      ours_.push_back(so_far);
    }
    return {};
  }

  std::string scratch_;
  std::vector<std::string> ours_;  // folders that exist in this namespace alone
  int layers_ = 0;
};

Result<void> make_read_only(const std::string& path) {
  struct statvfs now{};
  if (statvfs(path.c_str(), &now) != 0) return failed("cannot look at " + path);
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
  // Flags that the machine set may not be taken away.
  if ((now.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((now.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((now.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((now.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((now.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  if (mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0) return {};
  return failed("cannot make " + path + " read-only");
}

Result<void> write_text(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  const bool is_done = fd >= 0 && write(fd, text.data(), text.size()) == ssize_t(text.size());
  if (fd >= 0) close(fd);
  return is_done ? Result<void>() : failed(fmt::format("cannot write {}", path));
}

}  // namespace

Result<void> enter_private_mounts() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWNS) != 0) {
    // Without the right to do so, an own user namespace gives it, in which all stays as it is.
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return failed("no private mount namespace can be had");
    }
    TRY_VOID(write_text("/proc/self/setgroups", "deny"));
    TRY_VOID(write_text("/proc/self/uid_map", fmt::format("{} {} 1", user, user)));
    TRY_VOID(write_text("/proc/self/gid_map", fmt::format("{} {} 1", group, group)));
  }
  // Nothing done here may be seen outside.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return failed("the mounts cannot be made private");
  }
  return {};
}

Result<void> probe_private_mounts() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) {
    const auto done = enter_private_mounts();
    if (!done) (void)!write(ends[1], done.error().message.data(), done.error().message.size());
    _exit(done ? 0 : 1);
  }
  close(ends[1]);
  char text[256];
  const ssize_t size = child < 0 ? 0 : read(ends[0], text, sizeof text);
  close(ends[0]);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return {};
  return fail(ErrorCode::unsupported,
              size > 0 ? std::string(text, static_cast<size_t>(size)) : "cannot start a process");
}

Result<void> bind_all(std::vector<BindMount> mounts, const std::string& scratch) {
  // Outer folders first, so that a mount inside another one is not hidden by it.
  std::ranges::stable_sort(
      mounts, {}, [](const BindMount& mount) { return std::ranges::count(mount.target, '/'); });
  Room room(scratch);
  // A new root must come before the sources are held: what is held must lie in the tree that stays.
  for (const BindMount& mount : mounts) {
    const auto parts = split(mount.target, '/');
    const bool needs_root = parts.size() > 1 && !exists("/" + std::string(parts[1]));
    if (needs_root)
      TRY_VOID(room.make("/" + std::string(parts[1]), parts.size() > 2 || is_folder(mount.source)));
  }
  std::vector<Fd> sources;
  for (const BindMount& mount : mounts) {
    sources.emplace_back(open(mount.source.c_str(), O_PATH | O_CLOEXEC));
    if (sources.back().number < 0) return failed("cannot open " + mount.source);
  }
  for (size_t i = 0; i < mounts.size(); ++i) {
    const BindMount& wanted = mounts[i];
    const bool as_folder = is_folder(sources[i].path());
    TRY_VOID(room.make(wanted.target, as_folder));
    if (is_folder(wanted.target) != as_folder) {
      return fail(ErrorCode::invalid,
                  fmt::format("cannot mount {} at {}: one is a folder, the other is not",
                              wanted.source, wanted.target));
    }
    if (mount(sources[i].path().c_str(), wanted.target.c_str(), nullptr, MS_BIND | MS_REC,
              nullptr) != 0) {
      return failed(fmt::format("cannot mount {} at {}", wanted.source, wanted.target));
    }
    if (wanted.is_read_only) TRY_VOID(make_read_only(wanted.target));
    room.forget_below(wanted.target);
  }
  return {};
}

}  // namespace tau::host
