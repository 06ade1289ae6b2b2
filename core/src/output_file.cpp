// The file operations behind OutputFile. A path that exists but is no regular file is refused: renaming over a
// directory fails late, and renaming over a device such as /dev/null would replace it.
#include <trn/core/output_file.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <trn/core/error.hpp>

namespace trn {

namespace fs = std::filesystem;

namespace {
std::string reason_of(int error) { return std::generic_category().message(error); }

// The names of open temporary files, for remove_partial_files(). A handler may run at any instruction, so a name stands
// here before its file exists and until it is gone; the text does not move while it does.
constexpr std::size_t kRemembered = 32;
std::atomic<const char*> partial_files[kRemembered];

std::size_t remember(const char* name) {
  for (std::size_t i = 0; i < kRemembered; ++i) {
    const char* none = nullptr;
    if (partial_files[i].compare_exchange_strong(none, name)) return i;
  }
  return kRemembered;
}
void forget(std::size_t place) {
  if (place < kRemembered) partial_files[place] = nullptr;
}
}  // namespace

void remove_partial_files() noexcept {
  for (const std::atomic<const char*>& name : partial_files) {
    if (const char* text = name.load()) unlink(text);
  }
}

OutputFile::OutputFile(std::string operation, const std::string& path)
    : operation_(std::move(operation)), path_(path), target_(path) {
  if (path.empty()) refuse("the path is empty");
  // The file behind a link is written, not the link replaced, also where there is no such file yet.
  std::error_code error;
  constexpr int kLinks = 40;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target_, error)); ++links) {
    if (links == kLinks) refuse("its links lead in a circle");
    const fs::path to = fs::read_symlink(target_, error);
    if (error) refuse(error.message());
    target_ = (to.is_absolute() ? to : fs::path(target_).parent_path() / to).string();
  }
  const fs::file_status status = fs::status(target_, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("it exists and is not a regular file");

  // "x": never take over a file that somebody else is writing.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts && file_ == nullptr; ++attempt) {
    temporary_ = fmt::format("{}.{}-{}.partial", target_, getpid(), attempt);
    place_ = remember(temporary_.c_str());
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (file_ != nullptr) break;
    const int error_number = errno;
    forget(place_);
    if (error_number != EEXIST || attempt + 1 == kAttempts) refuse(reason_of(error_number));
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
  if (temporary_.empty()) return;
  std::remove(temporary_.c_str());
  forget(place_);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) refuse(reason_of(errno));
}

void OutputFile::commit() {
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) refuse(reason_of(errno));
  std::error_code error;
  fs::rename(temporary_, target_, error);
  if (error) refuse(error.message());
  forget(place_);
  temporary_.clear();
}

void OutputFile::refuse(const std::string& reason) const {
  fail<InvalidArgument>("{}: cannot write '{}': {}; choose a file in a folder that exists and can be written",
                        operation_, path_, reason);
}

}  // namespace trn
