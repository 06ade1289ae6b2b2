// Files and locks as the cache needs them: descriptors that close, locks that the system frees when their process dies,
// writes that are on disk when they return. Trouble with writing is DeviceError "neff-cache".
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace trn::neuron::neff {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Closed at exec: a child would keep the locks.
[[nodiscard]] Descriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0666);

// A new folder in the system's place for temporary files (TMPDIR), gone at the end with what is in it. It is locked
// while its process lives: folders of the same name whose processes died are removed when the next one is made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

// A file in memory, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  // Empty for an empty file; nothing where it cannot be mapped.
  [[nodiscard]] static std::optional<Mapping> of(const Descriptor& file);
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

enum class Hold { Shared, Exclusive };
enum class Wait { Yes, No };
// False: somebody else holds it (Wait::No), or the file system has no locks.
bool take_lock(const Descriptor& file, Hold hold, Wait wait);
// Does the path still lead to this open file?
[[nodiscard]] bool still_there(const Descriptor& file, const std::filesystem::path& path);
// The lock of the file of this name, which is made where it is missing. Nothing: somebody else holds it.
[[nodiscard]] std::optional<Descriptor> lock_file(const std::filesystem::path& path, Wait wait);

// Nothing where there is no such file, or it is larger than `most`.
[[nodiscard]] std::optional<std::string> read_file(const std::filesystem::path& path, std::size_t most);
// The last bytes of a file; empty where there is none.
[[nodiscard]] std::string read_tail(const std::filesystem::path& path, std::size_t most);
[[noreturn]] void refuse_write(const std::filesystem::path& path, int error);
// The same for the place of temporary files: names TMPDIR.
[[noreturn]] void refuse_temporary(const std::filesystem::path& path, int error);
// Writes the file anew, or throws what `refuse` does.
void write_file(const std::filesystem::path& path, std::string_view text,
                decltype(&refuse_write) refuse = refuse_write);
// What was written to the file or folder is on disk, or throws.
void sync(const std::filesystem::path& path);
void make_folder(const std::filesystem::path& path);

}  // namespace trn::neuron::neff
