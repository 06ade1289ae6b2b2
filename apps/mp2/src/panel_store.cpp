// Panels in memory or in an unnamed file, by pread and pwrite.
#include <trn/mp2/panel_store.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <trn/core/error.hpp>

namespace trn::mp2 {

template <class T> PanelStore<T>::PanelStore(Place place, std::int64_t panels, std::int64_t rows, std::int64_t columns,
                                             const std::string& folder)
    : rows_(rows), columns_(columns), folder_(folder) {
  if (place == Place::Memory) {
    values_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(panels * rows * columns));
    return;
  }
  if (folder_.empty()) {
    std::error_code error;
    folder_ = std::filesystem::temp_directory_path(error).string();
    require(!error, "mp2: the folder for temporary files: {}; set TMPDIR or --scratch to a folder with room",
            error.message());
  }
  std::string name = folder_ + "/trnsci-mp2-XXXXXX";
  file_ = mkstemp(name.data());
  require(file_ >= 0, "mp2: cannot make a temporary file in '{}': {}; set --scratch to a folder with room", folder_,
          std::strerror(errno));
  unlink(name.c_str());
}

template <class T> PanelStore<T>::~PanelStore() {
  if (file_ >= 0) close(file_);
}

template <class T> void PanelStore<T>::write(std::int64_t panel, std::int64_t row, std::int64_t count, const T* from) {
  const std::int64_t at = (panel * rows_ + row) * columns_, size = count * columns_;
  if (file_ < 0) {
    std::copy_n(from, size, values_.get() + at);
    return;
  }
  const auto* bytes = reinterpret_cast<const char*>(from);
  const auto length = size * static_cast<std::int64_t>(sizeof(T)), offset = at * static_cast<std::int64_t>(sizeof(T));
  file_bytes_ += length;
  for (std::int64_t done = 0; done < length;) {
    const ssize_t wrote = pwrite(file_, bytes + done, static_cast<std::size_t>(length - done), offset + done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) fail<DeviceError>("mp2: writing to a temporary file in '{}': {}", folder_, std::strerror(errno));
    done += wrote;
  }
}

template <class T> void PanelStore<T>::read(std::int64_t first, std::int64_t count, T* to) const {
  const std::int64_t at = first * rows_ * columns_, size = count * rows_ * columns_;
  if (file_ < 0) {
    std::copy_n(values_.get() + at, size, to);
    return;
  }
  auto* bytes = reinterpret_cast<char*>(to);
  const auto length = size * static_cast<std::int64_t>(sizeof(T)), offset = at * static_cast<std::int64_t>(sizeof(T));
  file_bytes_ += length;
  for (std::int64_t done = 0; done < length;) {
    const ssize_t got = pread(file_, bytes + done, static_cast<std::size_t>(length - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      fail<DeviceError>("mp2: reading a temporary file in '{}': {}", folder_,
                        got == 0 ? "it is too short" : std::strerror(errno));
    done += got;
  }
}

template class PanelStore<float>;
template class PanelStore<double>;

}  // namespace trn::mp2
