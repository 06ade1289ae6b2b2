// Device memory with a vector's content, for tests of the C face.
#pragma once

#include <gtest/gtest.h>
#include <trn_runtime.h>

#include <vector>

namespace capi_test {

template <class T> class Mem {
 public:
  explicit Mem(std::vector<T> values) : size_(values.size()) {
    EXPECT_EQ(trnMalloc(&data_, size_ * sizeof(T)), trnSuccess) << trnGetLastErrorText();
    EXPECT_EQ(trnMemcpy(data_, values.data(), size_ * sizeof(T), trnMemcpyHostToDevice), trnSuccess);
  }
  explicit Mem(std::size_t size) : Mem(std::vector<T>(size)) {}
  ~Mem() { trnFree(data_); }
  Mem(const Mem&) = delete;
  Mem& operator=(const Mem&) = delete;
  operator T*() const { return static_cast<T*>(data_); }
  [[nodiscard]] trnDoubleComplex* z() const { return static_cast<trnDoubleComplex*>(data_); }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> out(size_);
    EXPECT_EQ(trnMemcpy(out.data(), data_, size_ * sizeof(T), trnMemcpyDeviceToHost), trnSuccess);
    return out;
  }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

// Makes a device of that executor current; back to device 0 at the end.
class On {
 public:
  explicit On(const char* executor) {
    int device = 0;
    EXPECT_EQ(trnDeviceOpen(executor, &device), trnSuccess) << trnGetLastErrorText();
    trnSetDevice(device);
  }
  ~On() { trnSetDevice(0); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;
};

}  // namespace capi_test
