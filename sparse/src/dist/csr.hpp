// What a rank holds of a distributed matrix.
#pragma once

#include <optional>
#include <vector>

#include <trn/comm/together.hpp>
#include <trn/sparse/dist_csr.hpp>
#include <trn/sparse/spmm.hpp>

namespace trn::sparse::detail {

template <class T> struct DistCsrData {
  comm::Communicator group;
  Extents extents;
  Executor executor = Executor::host();
  std::int64_t nnz = 0;
  std::int64_t first_row = 0, rows = 0;        // of this rank
  std::int64_t first_column = 0, columns = 0;  // of x that it has
  // rows x (below + columns + above), columns in global order; in host memory. Devices: perhaps an empty column more.
  std::optional<Csr<T>> local;
  std::optional<SpmmPlan<T>> plan;
  std::int64_t below = 0, above = 0;  // halo of lower and of higher ranks
  // By rank: how many elements go there and come from there, and which ones go, as places of this rank's part of x.
  std::vector<std::int64_t> send_counts, receive_counts, send_places;
  struct Run {
    std::int64_t place, count;
  };
  std::vector<Run> send_runs;  // the places, neighbours together

  [[nodiscard]] bool on_host() const { return executor.family() == Family::Host; }

  // The elements of x that this rank's rows need, `width` values each: halo below, `own`, halo above. Collective.
  void gather(const T* own, std::int64_t width, std::vector<T>& all) const;
  // y = alpha A x + beta y for rows of `width` values in host memory; `all` is scratch. Collective. The product is the
  // executor's: where that is a device, operands go there and the result comes back.
  void multiply(T alpha, const T* x, T beta, T* y, std::int64_t width, std::vector<T>& all) const;
  // The same for x and y in the device's memory. Collective.
  void multiply_there(T alpha, const View<T>& x, T beta, const View<T>& y, std::int64_t width) const;
  // Throws InvalidArgument on all ranks where one says what is wrong with its operands; null: nothing is.
  void agree(const char* operation, const char* wrong) const;
  // What is wrong with an operand of this distribution; null: nothing is.
  [[nodiscard]] const char* trouble(const dist::Array<T>& a, const dist::Boxes& boxes) const;
};

// A rank's part of a vector on a device, in host memory for a while. Collective.
template <class T> class OnHost {
 public:
  OnHost(const comm::Communicator& group, const View<T>& there, bool load)
      : group_(group), there_(there), values_(static_cast<std::size_t>(element_count(there.shape()))) {
    comm::together(group_, [&] {
      if (load && !values_.empty()) copy(View<const T>(there_), here());
    });
  }
  [[nodiscard]] T* data() const { return values_.data(); }
  void store() const {
    comm::together(group_, [&] {
      if (!values_.empty()) copy(View<const T>(here()), there_);
    });
  }

 private:
  [[nodiscard]] View<T> here() const { return View<T>(Executor::host(), values_.data(), there_.shape()); }

  comm::Communicator group_;
  View<T> there_;
  mutable std::vector<T> values_;
};

}  // namespace trn::sparse::detail
