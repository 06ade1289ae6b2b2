// The cache of compiled programs, a folder that processes and hosts may share:
//
//   MACHINE/K2/KEY/        kernel.neff manifest.json kernel.py log.txt; after a refusal failed.json instead of a NEFF
//   MACHINE/K2/KEY.lock    held by who builds or removes KEY
//   tmp/                   builds under way, each folder locked by its process; moved entries before they are removed
//   usage                  bytes of all entries, or more; its lock is held while entries are counted and removed
//   toolchains.json        versions of the toolchains that built here, the latest first
//   missing/MACHINE/       programs that were asked for where compiling was forbidden
//
// K2 are the first two characters of the key. An entry appears by one rename and is never changed. Who uses a NEFF
// holds a shared lock on it; who removes it needs the exclusive one. A bundle is such a folder, only read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "neff/files.hpp"
#include "neff/neff.hpp"

namespace trn::neuron::neff {

using Versions = std::map<std::string, std::string>;

struct Artifact::State {
  std::filesystem::path path;
  std::string key;
  Manifest manifest;
  Descriptor file;  // with the shared lock
  Mapping neff;
  bool built = false;
  double seconds = 0;
};

// An entry of a program that the toolchain refused.
struct Failure {
  std::string check, message;
  double time_limit = 0;  // of the build that ran out of time, else 0
  std::filesystem::path path;
};

class Cache {
 public:
  Cache(std::filesystem::path root, std::string machine) : root_(std::move(root)), machine_(std::move(machine)) {}

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path entry(const std::string& key) const;
  // Throws DeviceError "neff-corrupt" for an entry that is damaged.
  using Entry = std::variant<std::monostate, std::shared_ptr<Artifact::State>, Failure>;
  [[nodiscard]] Entry find(const std::string& key, int lnc) const;

  [[nodiscard]] std::vector<Versions> toolchains() const;
  // Whether any program lies here, whole or not.
  [[nodiscard]] bool has_programs() const;
  // Puts these versions first.
  void remember(const Versions& versions);

  // Held while the entry is built.
  [[nodiscard]] Descriptor lock(const std::string& key);
  // Moves a folder of a workspace into place, in the stead of an entry that is there. Before that, entries that nobody
  // holds are removed, the least recently used first, until all fit in `limit` bytes.
  void publish(const std::filesystem::path& folder, const std::string& key, std::int64_t limit);

 private:
  friend class Workspace;
  struct Listed;
  [[nodiscard]] std::vector<Listed> list() const;
  [[nodiscard]] bool remove(const Listed& entry);
  void reserve(std::int64_t bytes, std::int64_t limit);

  std::filesystem::path root_;
  std::string machine_;
};

// A folder of one build, removed at the end. Folders of processes that died are removed when the next one is made.
class Workspace {
 public:
  explicit Workspace(const Cache& cache);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

}  // namespace trn::neuron::neff
