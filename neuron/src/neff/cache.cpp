// The cache: finding, counting, removing and publishing entries.
#include "neff/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

#include "neff/sha256.hpp"

namespace trn::neuron::neff {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestText = std::size_t{1} << 20;

template <class... Args>
[[noreturn]] void corrupt(const fs::path& path, fmt::format_string<Args...> text, Args&&... args) {
  throw DeviceError(
      fmt::format("compiled program {}: {}", path.string(), fmt::format(text, std::forward<Args>(args)...)),
      "neff-corrupt");
}

std::int64_t folder_bytes(const fs::path& folder) {
  std::int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto size = at->file_size(error);
    if (!error) total += static_cast<std::int64_t>(size);
    error.clear();
  }
  return total;
}

// A new name below tmp/ for what is about to be removed.
fs::path trash(const fs::path& root) {
  static std::atomic<unsigned> number{0};
  return root / "tmp" / fmt::format("removed-{}-{}", getpid(), number++);
}

void remove_quietly(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
}

std::optional<Failure> read_failure(const fs::path& path) {
  const auto text = read_file(path, kLargestText);
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("check") || !json["check"].is_string() || !json.contains("message") ||
      !json["message"].is_string() || !json.contains("time_limit") || !json["time_limit"].is_number()) {
    return std::nullopt;  // the next build replaces it
  }
  return Failure{json["check"].get<std::string>(), json["message"].get<std::string>(), json["time_limit"].get<double>(),
                 path};
}

}  // namespace

fs::path Cache::entry(const std::string& key) const { return root_ / machine_ / key.substr(0, 2) / key; }

Cache::Entry Cache::find(const std::string& key, int lnc) const {
  const fs::path folder = entry(key), path = folder / "kernel.neff";
  for (;;) {
    auto state = std::make_shared<Artifact::State>();
    state->path = path;
    state->key = key;
    state->file = open_file(path, O_RDONLY | O_NONBLOCK);  // a pipe does not keep us
    if (!state->file.open()) {
      if (auto failure = read_failure(folder / "failed.json")) return *failure;
      std::error_code error;
      if (!fs::exists(folder / "manifest.json", error)) return std::monostate();
      if (open_file(path, O_RDONLY).open()) continue;  // it has just appeared
      if (fs::exists(folder / "manifest.json", error)) corrupt(folder, "kernel.neff is missing or cannot be read");
      return std::monostate();
    }
    // A file system without locks has none to remove entries by either.
    (void)take_lock(state->file, Hold::Shared, Wait::Yes);
    if (!still_there(state->file, path)) continue;  // removed between open and lock
    auto neff = Mapping::of(state->file);
    if (!neff) corrupt(path, "cannot be read");
    state->neff = std::move(*neff);
    const auto text = read_file(folder / "manifest.json", kLargestText);
    if (!text) corrupt(folder, "manifest.json is missing or cannot be read");
    try {
      state->manifest = read_manifest(*text);
    } catch (const DeviceError& e) {
      corrupt(folder, "{}", e.what());
    }
    if (sha256(state->neff.bytes()) != state->manifest.sha256) corrupt(path, "not the bytes that were built");
    (void)check_neff(state->neff.bytes(), lnc, path.string());
    (void)utimensat(AT_FDCWD, (folder / "manifest.json").c_str(), nullptr, 0);  // used now; a bundle refuses, rightly
    return state;
  }
}

std::vector<Versions> Cache::toolchains() const {
  std::vector<Versions> result;
  const auto text = read_file(root_ / "toolchains.json", kLargestText);
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!json.is_array()) return result;
  for (const auto& item : json) {
    Versions versions;
    if (!item.is_object()) continue;
    for (const auto& [name, value] : item.items()) {
      if (value.is_string()) versions[name] = value.get<std::string>();
    }
    result.push_back(versions);
  }
  return result;
}

void Cache::remember(const Versions& versions) {
  constexpr std::size_t kMost = 16;
  std::vector<Versions> list = toolchains();
  if (!list.empty() && list.front() == versions) return;
  const auto lock = lock_file(root_ / "usage", Wait::Yes);
  list = toolchains();
  std::erase(list, versions);
  list.insert(list.begin(), versions);
  if (list.size() > kMost) list.resize(kMost);
  const fs::path temporary = trash(root_);
  make_folder(temporary.parent_path());
  write_file(temporary, nlohmann::json(list).dump(1) + "\n");
  if (rename(temporary.c_str(), (root_ / "toolchains.json").c_str()) != 0)
    refuse_write(root_ / "toolchains.json", errno);
}

Descriptor Cache::lock(const std::string& key) {
  const fs::path folder = entry(key).parent_path();
  make_folder(folder);
  return std::move(*lock_file(folder / (key + ".lock"), Wait::Yes));
}

struct Cache::Listed {
  fs::path folder;
  std::int64_t bytes;
  timespec used;
};

std::vector<Cache::Listed> Cache::list() const {
  std::vector<Listed> result;
  std::error_code error;
  const auto children = [&](const fs::path& folder) {
    std::vector<fs::path> names;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (fs::is_directory(at->path(), error)) names.push_back(at->path());
      error.clear();
    }
    error.clear();
    return names;
  };
  for (const fs::path& machine : children(root_)) {
    if (machine.filename() == "tmp" || machine.filename() == "missing") continue;
    for (const fs::path& start : children(machine)) {
      for (const fs::path& folder : children(start)) {
        struct stat info {};
        if (stat((folder / "manifest.json").c_str(), &info) != 0 && stat(folder.c_str(), &info) != 0) continue;
        result.push_back({folder, folder_bytes(folder), info.st_mtim});
      }
    }
  }
  return result;
}

bool Cache::has_programs() const {
  for (const Listed& entry : list()) {
    std::error_code error;
    if (fs::exists(entry.folder / "kernel.neff", error) || fs::exists(entry.folder / "manifest.json", error))
      return true;
  }
  return false;
}

bool Cache::remove(const Listed& entry) {
  const fs::path path = entry.folder / "kernel.neff", lock_path = entry.folder.string() + ".lock";
  const auto building = lock_file(lock_path, Wait::No);
  if (!building) return false;
  const Descriptor neff = open_file(path, O_RDONLY);
  if (neff.open() && !take_lock(neff, Hold::Exclusive, Wait::No)) return false;  // in use
  const fs::path to = trash(root_);
  if (rename(entry.folder.c_str(), to.c_str()) != 0) return false;
  (void)unlink(lock_path.c_str());
  remove_quietly(to);
  return true;
}

// The number in `usage` is never too small: it grows before an entry appears, and shrinks only here, where the entries
// are counted. A process that dies in between leaves it too large, and the next count corrects it.
void Cache::reserve(std::int64_t bytes, std::int64_t limit) {
  const auto lock = lock_file(root_ / "usage", Wait::Yes);
  const std::string text = read_file(root_ / "usage", 64).value_or("");
  std::int64_t total = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), total);
  const bool known = status == std::errc() && end != text.data() && *end == '\n' && total >= 0;
  if (!known || total + bytes > limit) {
    std::vector<Listed> entries = list();
    total = 0;
    for (const Listed& e : entries) total += e.bytes;
    const auto older = [](const Listed& a, const Listed& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    };
    std::sort(entries.begin(), entries.end(), older);
    for (const Listed& e : entries) {
      if (total + bytes <= limit) break;
      if (remove(e)) total -= e.bytes;
    }
  }
  const std::string number = fmt::format("{:020}\n", total + bytes);
  if (pwrite(lock->number(), number.data(), number.size(), 0) != static_cast<ssize_t>(number.size())) {
    refuse_write(root_ / "usage", errno);
  }
}

void Cache::publish(const fs::path& folder, const std::string& key, std::int64_t limit) {
  for (const auto& file : fs::directory_iterator(folder)) sync(file.path());
  sync(folder);
  reserve(folder_bytes(folder), limit);
  const fs::path to = entry(key);
  const fs::path old = trash(root_);
  const bool replaced = rename(to.c_str(), old.c_str()) == 0;
  if (rename(folder.c_str(), to.c_str()) != 0) refuse_write(to, errno);
  sync(to.parent_path());
  if (replaced) remove_quietly(old);
}

Workspace::Workspace(const Cache& cache) {
  const fs::path tmp = cache.root() / "tmp";
  make_folder(tmp);
  const fs::path guard = tmp / "guard";
  {
    // Who makes a folder holds the guard shared until the folder is locked; who removes folders holds it alone.
    const Descriptor all = open_file(guard, O_RDWR | O_CREAT);
    if (!all.open()) refuse_write(guard, errno);
    if (take_lock(all, Hold::Exclusive, Wait::No)) {
      for (const auto& child : fs::directory_iterator(tmp)) {
        if (!child.is_directory()) continue;
        const Descriptor folder = open_file(child.path(), O_RDONLY | O_DIRECTORY);
        if (folder.open() && take_lock(folder, Hold::Exclusive, Wait::No)) remove_quietly(child.path());
      }
    }
    (void)take_lock(all, Hold::Shared, Wait::Yes);
    std::string name = (tmp / "build-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) refuse_write(tmp, errno);
    path_ = name;
    lock_ = open_file(path_, O_RDONLY | O_DIRECTORY);
    (void)take_lock(lock_, Hold::Exclusive, Wait::No);
  }
  (void)chmod(path_.c_str(), 0755);
}

Workspace::~Workspace() { remove_quietly(path_); }

}  // namespace trn::neuron::neff
