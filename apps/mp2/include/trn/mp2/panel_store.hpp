// PanelStore: B(i, P, a) as one naux x nvir panel per occupied orbital i, in memory, or in a temporary file when memory
// is short. The file has no name and goes away with the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace trn::mp2 {

template <class T> class PanelStore {
 public:
  enum class Place : std::uint8_t { Memory, File };

  // InvalidArgument with the system's reason when a file cannot be made in `folder` (empty: the system's).
  PanelStore(Place place, std::int64_t panels, std::int64_t rows, std::int64_t columns, const std::string& folder);
  ~PanelStore();
  PanelStore(const PanelStore&) = delete;
  PanelStore& operator=(const PanelStore&) = delete;

  [[nodiscard]] T* memory() { return file_ < 0 ? values_.get() : nullptr; }  // nullptr: in a file
  // Rows [row, row + count) of panel i. Threads may call for different rows. DeviceError when the disk is full.
  void write(std::int64_t panel, std::int64_t row, std::int64_t count, const T* from);
  // Panels [first, first + count).
  void read(std::int64_t first, std::int64_t count, T* to) const;
  [[nodiscard]] std::int64_t file_bytes() const { return file_bytes_; }  // that went to and came from the file

 private:
  std::int64_t rows_, columns_;
  std::unique_ptr<T[]> values_;
  int file_ = -1;
  mutable std::atomic<std::int64_t> file_bytes_ = 0;
  std::string folder_;
};

}  // namespace trn::mp2
