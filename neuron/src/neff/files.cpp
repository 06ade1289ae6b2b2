// Files and locks: see files.hpp.
#include "neff/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <trn/core/environment.hpp>
#include <trn/core/error.hpp>

namespace trn::neuron::neff {

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  int number = 0;
  do number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

namespace {

// Removes folders that begin with `start` and that nobody holds. One that was made a moment ago may not be locked yet;
// those of other users, and links, are left alone.
void remove_abandoned(const std::filesystem::path& place, const std::string& start) {
  constexpr time_t kYoung = 60;
  std::error_code error;
  for (std::filesystem::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(start)) continue;
    const Descriptor folder = open_file(at->path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    struct stat info {};
    if (!folder.open() || fstat(folder.number(), &info) != 0 || info.st_uid != geteuid()) continue;
    if (time(nullptr) - info.st_mtime < kYoung || !take_lock(folder, Hold::Exclusive, Wait::No)) continue;
    std::error_code failed;
    std::filesystem::remove_all(at->path(), failed);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  const std::filesystem::path place = std::filesystem::temp_directory_path(error);
  // The system's answer is empty where TMPDIR is not a folder.
  if (error) refuse_temporary(environment("TMPDIR", "/tmp"), error.value());
  const std::string start = "trnsci-" + name + "-";
  remove_abandoned(place, start);
  std::string text = (place / (start + "XXXXXX")).string();
  if (mkdtemp(text.data()) == nullptr) refuse_temporary(place, errno);
  path_ = text;
  lock_ = open_file(path_, O_RDONLY | O_DIRECTORY);
  (void)take_lock(lock_, Hold::Exclusive, Wait::No);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::optional<Mapping> Mapping::of(const Descriptor& file) {
  struct stat info {};
  if (fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  Mapping mapping;
  if (info.st_size == 0) return mapping;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) return std::nullopt;
  mapping.bytes_ = {static_cast<const std::byte*>(address), size};
  return mapping;
}

bool take_lock(const Descriptor& file, Hold hold, Wait wait) {
  const int operation = (hold == Hold::Shared ? LOCK_SH : LOCK_EX) | (wait == Wait::Yes ? 0 : LOCK_NB);
  int status = 0;
  do status = flock(file.number(), operation);
  while (status != 0 && errno == EINTR);
  return status == 0;
}

bool still_there(const Descriptor& file, const std::filesystem::path& path) {
  struct stat open_one {
  }, named{};
  return fstat(file.number(), &open_one) == 0 && stat(path.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

std::optional<Descriptor> lock_file(const std::filesystem::path& path, Wait wait) {
  for (;;) {
    Descriptor file = open_file(path, O_RDWR | O_CREAT);
    if (!file.open()) refuse_write(path, errno);
    if (!take_lock(file, Hold::Exclusive, wait)) {
      if (wait == Wait::No) return std::nullopt;
      // No locks on this file system: two builds of one entry may happen, and rename keeps either whole.
      return file;
    }
    if (still_there(file, path)) return file;  // else it was removed with its entry meanwhile
  }
}

std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  const Descriptor file = open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!file.open() || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::size_t>(info.st_size) > most) {
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t n = pread(file.number(), text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    at += static_cast<std::size_t>(n);
  }
  return text;
}

std::string read_tail(const std::filesystem::path& path, std::size_t most) {
  const Descriptor file = open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!file.open() || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  const auto size = static_cast<std::size_t>(info.st_size);
  std::string text(std::min(most, size), '\0');
  const ssize_t n = pread(file.number(), text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return text;
}

void refuse_temporary(const std::filesystem::path& path, int error) {
  throw DeviceError(fmt::format("temporary files: {}: {}; set TMPDIR to a folder that can be written and has room",
                                path.string(), std::generic_category().message(error)),
                    "neff-cache");
}

void refuse_write(const std::filesystem::path& path, int error) {
  throw DeviceError(fmt::format("cache of compiled programs: {}: {}; give a folder that can be written and has "
                                "room (TRN_NEFF_CACHE, or -o of trnsci neffc)",
                                path.string(), std::generic_category().message(error)),
                    "neff-cache");
}

void write_file(const std::filesystem::path& path, std::string_view text, decltype(&refuse_write) refuse) {
  const Descriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.open()) refuse(path, errno);
  while (!text.empty()) {
    const ssize_t n = ::write(file.number(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(path, errno);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void sync(const std::filesystem::path& path) {
  const Descriptor file = open_file(path, O_RDONLY);
  if (!file.open() || (fsync(file.number()) != 0 && errno != EINVAL && errno != EROFS)) refuse_write(path, errno);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) refuse_write(path, error.value());
}

}  // namespace trn::neuron::neff
